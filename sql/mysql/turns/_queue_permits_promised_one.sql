-- changes: queue_semaphore_permit
create procedure _queue_permits_promised_one(in in_entry bigint, in in_permits int, in in_until bigint,
    in in_now bigint, out out_done boolean)
    comment '_queue_permits_promised for one message, without a word on its row.
in_entry: its entry, locked already. in_permits: how many semaphores it names. in_until: when the hold ends. in_now: the
time of the call.
out_done: false: not all are promised, and nothing was taken.
Locks: the permits.
differs: see _queue_permits_promised.'
begin
    update queue_semaphore_permit h set h.until = in_until where h.entry = in_entry and h.until < 0;
    set out_done = row_count() = in_permits;
    if not out_done then
        update queue_semaphore_permit h set h.until = -in_now where h.entry = in_entry and h.until = in_until;
    end if;
end;
