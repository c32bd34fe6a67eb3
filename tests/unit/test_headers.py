"""What the first lines of a routine's file say is read off its body."""

from __future__ import annotations

import pytest

from tests.rules import every
from tools import headers

POSTGRESQL = """create function _queue_end(in_entry bigint) returns void language plpgsql as $$
begin
    -- update queue_kind set nothing
    perform queue_now(), 'queue_fail(delete from queue_log)';
    with d as (delete from delayed_queue q where q.entry = in_entry returning q.*)
    insert into queue_count (p_kind) select d.p_kind from d join queue_history h on true;
    update queue_slot s set kept = 1 from queue_bucket b where b.part = s.slot;
end $$;
comment on function _queue_end(bigint) is $$Calls _queue_nack(bigint).$$;
"""
MYSQL = """create procedure _queue_end(in in_entry bigint)
    comment 'It''s not what calls _queue_nack().'
begin
    call queue_now(v_now);
    delete q from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j
    straight_join delayed_queue q on q.entry = j.entry;
    update queue_kind k join queue_slot p on p.p_kind = k.p_kind set p.entry = null;
    update queue_order o join queue_term t on t.entry = o.first
    set o.first = 1, t.entry = if(o.first = 1, 2, 3) where t.entry = 4;
    insert into queue_count (p_kind) values ('a') on duplicate key update pushed = pushed + 1;
end;
"""


@pytest.mark.parametrize(
    ("text", "dialect", "tables"),
    [
        (POSTGRESQL, "postgresql", {"delayed_queue", "queue_count", "queue_slot"}),
        (MYSQL, "mysql", {"delayed_queue", "queue_count", "queue_order", "queue_slot", "queue_term"}),
    ],
)
def test_calls_and_changes_are_those_of_the_body(text: str, dialect: str, tables: set[str]) -> None:
    code = headers.body(text)
    assert headers.calls(code, dialect) == {"queue_now"}
    assert headers.changes(code, dialect) == tables


@every(headers.files(), lambda path: path.name)
def test_the_first_lines_of_a_routine_are_those_of_its_body(path: headers.Path) -> None:
    assert path.read_text(encoding="utf-8") == headers.with_header(path)
