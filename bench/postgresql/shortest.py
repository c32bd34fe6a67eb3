"""The shortest routines that the queue's own table allows, beside the queue and pgmq.

They hold and end messages in the order of the line, by a receipt that can't be guessed, and do nothing else:
no settings of the kind, no check, no cursor, no counter, no dead letter. So a consumer's loop on this table
can't be faster than they are.
"""

from __future__ import annotations

from bench.postgresql import batches
from bench.postgresql.next import CLIENTS, Next
from bench.postgresql.sides import Pgmq, Pyqueue
from bench.run import Run

NAME = "shortest"

ROUTINES = """
create schema if not exists shortest;
create or replace function shortest.next(in_receipts text[], in_max integer)
    returns table (p_key text, payload jsonb, receipt text) language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := common.now_us();
    v_secret constant bytea := uuid_send(gen_random_uuid());
begin
    delete from delayed_queue q using unnest(in_receipts) r (receipt)
    where q.entry = split_part(r.receipt, '-', 1)::bigint
        and q.secret = decode(split_part(r.receipt, '-', 2), 'hex');
    return query
        update delayed_queue q
        set scheduled_at = v_now + 300000000, reserved_at = v_now, attempts = q.attempts + 1,
            reserved_by = 'bench', secret = v_secret
        where q.ctid = any (array(
            select l.ctid from delayed_queue l
            where l.p_kind = 'bench' and l.ready_at is not null and l.scheduled_at <= v_now
            order by l.p_kind, -l.priority::integer, l.ready_at, l.entry limit in_max for update skip locked))
        returning q.p_key, q.payload, q.entry || '-' || encode(v_secret, 'hex');
end $$
"""


class Shortest(Pyqueue):
    """One routine that ends what the call before held, and holds the next."""

    name = "the shortest routines"

    def install(self) -> None:
        self.run(ROUTINES)

    def life(self, batch: int) -> str:
        if batch == 1:
            return """\\if :got
    select receipt, payload, 1 as got from shortest.next(array[:receipt::text], 1) \\aset
\\else
    select receipt, payload, 1 as got from shortest.next('{}', 1) \\aset
\\endif
"""
        return f"""\\if :got
    select array_agg(receipt) as receipts, count(*) as got
        from shortest.next(:receipts::text[], {batch}) \\gset
\\else
    select array_agg(receipt) as receipts, count(*) as got
        from shortest.next('{{}}', {batch}) \\gset
\\endif
"""


def run(run: Run) -> None:
    """Measure."""
    sides = [Shortest(run.url), Next(run.url), Pgmq(run.url)]
    several = [(clients, 1, "one by one") for clients in CLIENTS]
    several += [(clients, batches.BATCH, f"in batches of {batches.BATCH}") for clients in batches.CLIENTS]
    for clients, batch, how in several:
        shortest, queue, pgmq = run.turns(
            [lambda s=side, b=batch, c=clients: s.rate(run, b, c) for side in sides]
        )
        for mine, ours, other, beside in (
            (shortest, sides[0], sides[2], pgmq),
            (queue, sides[1], sides[0], shortest),
        ):
            run.keep(
                f"queue_next {how}",
                mine,
                beside,
                our_name=ours.name,
                other_name=other.name,
                unit="messages/s",
                clients=clients,
            )
