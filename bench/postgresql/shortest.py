"""The shortest routines that the queue's own table allows, beside the queue and pgmq.

They put messages in by their keys, hold and end them in the order of the line, by a receipt that can't be
guessed, and do nothing else: no settings of the kind, no check, no cursor, no counter, no dead letter. So
neither a push nor a consumer's loop on this table can be faster than they are.
"""

from __future__ import annotations

import functools

from bench.postgresql import batches, push
from bench.postgresql.next import CLIENTS, Next
from bench.postgresql.sides import Pgmq, Pyqueue, Side
from bench.run import Run

NAME = "shortest"

ROUTINES = """
create schema if not exists shortest;
create or replace function shortest.push(in_key text, in_payload jsonb, out outcome text) language plpgsql
    set plan_cache_mode = force_generic_plan as $$
declare
    v_now constant bigint := common.now_us();
begin
    insert into delayed_queue (p_kind, p_key, payload, scheduled_at, scheduled_at_initially, created_at,
        ready_at)
    values ('bench', in_key, in_payload, v_now, v_now, v_now, v_now)
    on conflict on constraint delayed_queue_pkey do nothing returning 'created' into outcome;
end $$;
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
    push = """\\set n random(1, 9000000000000000000)
select * from shortest.push('order/' || :n, :payload);
"""

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
    several = [("push one by one", clients, push.rate) for clients in push.CLIENTS]
    several += [
        ("queue_next one by one", clients, functools.partial(consume, batch=1)) for clients in CLIENTS
    ]
    several += [
        (
            f"queue_next in batches of {batches.BATCH}",
            clients,
            functools.partial(consume, batch=batches.BATCH),
        )
        for clients in batches.CLIENTS
    ]
    for what, clients, measure in several:
        shortest, queue, pgmq = run.turns([functools.partial(measure, run, side, clients) for side in sides])
        for mine, ours, other, beside in (
            (shortest, sides[0], sides[2], pgmq),
            (queue, sides[1], sides[0], shortest),
        ):
            run.keep(
                what,
                mine,
                beside,
                our_name=ours.name,
                other_name=other.name,
                unit="messages/s",
                clients=clients,
            )


def consume(run: Run, side: Side, clients: int, batch: int) -> float:
    """Return messages a second of a consumer's loop."""
    return side.rate(run, batch, clients)
