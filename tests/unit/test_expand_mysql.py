"""What the files of sql/mysql leave out is written out when they are frozen."""

from __future__ import annotations

import re

from tools import freeze_mysql, house
from tools.expand_mysql import COLLATION, expand

CALL = """\
begin
    declare v_done boolean;
    begin atomic
        declare c cursor for select 1;
        call _queue_work(v_own);

        set v_done = true;
    end atomic;
    select v_done;
end
"""


def test_an_atomic_block_is_a_transaction_that_is_tried_again() -> None:
    lines = [line.strip() for line in expand(CALL).splitlines()]
    # a cursor is of the block that catches: MySQL leaves one open that is further in
    order = [
        "begin declare v_own",
        "declare c",
        "handler for 1213",
        "handler for sqlexception",
        "_queue_begin",
    ]
    order += [
        "_queue_work(v_own)",
        "v_done = true",
        "_queue_commit",
        "leave again",
        "end loop",
        "select v_done",
    ]
    places = [next(n for n, line in enumerate(lines) if what in line) for what in order]
    assert places == sorted(places)
    blocks = [len(re.findall(word, expand(CALL))) for word in (r"\bbegin\b", r"\bend(?! loop)\b")]
    assert blocks[0] == blocks[1] == 4


LOOPS = """\
    outer: for each c into v_a,
            v_b do
        for each d into v_c do
            leave outer;
        end each;
    end each;
"""


def test_a_loop_is_over_the_rows_of_its_cursor() -> None:
    words = expand(LOOPS).split()
    text = " ".join(words)
    for cursor, label, into in (("c", "outer", "v_a, v_b"), ("d", "each_d", "v_c")):
        assert f"open {cursor}; begin declare v_over boolean default false; {label}: loop" in text
        assert f"handler for not found set v_over = true; fetch {cursor} into {into}; end;" in text
        assert f"if v_over then leave {label}; end if;" in text
        assert f"close {cursor};" in text
    assert [words.count(word) for word in ("begin", "loop", "end;", "loop;")] == [4, 2, 4, 2]
    assert text.index("close d;") < text.index("close c;")


MEANT = """\
    declare c cursor for -- not here
        select json_arrayagg(q.entry) from delayed_queue q;
    select count(*) into v_all from delayed_queue q;
    select json_arrayagg(q.entry) into v_all
    from delayed_queue q;
    delete q from json_table(v_all, '$[*]' columns (entry bigint path '$')) j
        straight_join delayed_queue q on q.entry = j.entry;
    delete q from delayed_queue q;
    insert into queue_count (id) select j.id from json_table(v_all, '$[*]' columns (id bigint path '$')) j;
"""


def test_what_a_session_has_set_is_not_for_lists() -> None:
    before, after = MEANT.splitlines(), expand(MEANT).splitlines()
    cut, safe = "group_concat_max_len = 1000000000", "sql_safe_updates = 0"
    changed = {3: cut, 5: safe}
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        told = f"    /*M!100600 set statement {changed[number]} for */ " if number in changed else ""
        assert new == (told + old.strip() if told else old)


def test_a_parameter_says_its_character_set_and_an_expression_does_not() -> None:
    text = "in a text collate exact, b varchar(20) collate exact; where a collate exact = b"
    assert expand(text) == (
        f"in a text character set utf8mb4 {COLLATION}, b varchar(20) character set utf8mb4 {COLLATION};"
        f" where a {COLLATION} = b"
    )


def test_a_list_is_rows() -> None:
    assert expand("select j.entry from entries(coalesce(v_all, '[]')) j;") == (
        "select j.entry from json_table(coalesce(v_all, '[]'), '$[*]' columns (entry bigint path '$')) j;"
    )
    assert COLLATION in expand("from names(q.semaphores) m")
    assert expand("call _queue_leaves(v_all); set v_entries = json_array(v_all);").startswith("call _queue_l")


def test_messages_are_found_by_their_entries_in_the_order_of_the_list() -> None:
    assert expand("    update messages(v_all) e set e.pending = null;") == (
        "    /*M!100600 set statement sql_safe_updates = 0 for */"
        " update json_table(v_all, '$[*]' columns (entry bigint path '$')) j"
        " straight_join delayed_queue e force index (primary) on e.entry = j.entry set e.pending = null;"
    )


def test_a_list_has_places_where_they_are_asked_for() -> None:
    columns = "columns (place for ordinality, entry bigint path '$'))"
    assert expand("from entries(v_all) with ordinality e") == f"from json_table(v_all, '$[*]' {columns} e"
    assert expand("from messages(v_all) with ordinality q").startswith(f"from json_table(v_all, '$[*]' {columns} j")


def test_what_may_match_is_asked_of_both_documents() -> None:
    text = " ".join(expand("where (in_path is null or may match(q))").split())
    assert text.startswith("where (in_path is null or /*M!100600 if(locate('\\\\', q.payload) > 0")
    for name in ("payload", "headers"):
        assert f"json_unquote(json_extract(q.{name}, in_path)) = in_text" in text
        assert f"json_extract(q.{name}, in_path) + 0e0 = in_number" in text
        assert f"locate(v_name, q.{name}, locate(v_name, q.{name}) + 1) > 0" in text
    # a server that isn't MariaDB reads neither the first IF nor its end
    assert [text.count(one) for one in ("/*M!100600", "*/", " or if(", "(", ")")] == [4, 4, 0, 25, 25]


def test_nothing_is_left_of_what_no_server_takes() -> None:
    texts = {path: freeze_mysql.read(path) for path in (house.LIVE / "mysql").rglob("*.sql")}
    assert [
        path
        for path, text in texts.items()
        if re.search(r"collate exact|(begin|end) atomic|for each \w+ into|end each;", text)
        or re.search(r"\b(may match|messages|entries|names|leaves)\(", text)
    ] == []


def test_no_file_writes_it_out_itself() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in (house.LIVE / "mysql").rglob("*.sql")}
    assert [
        path
        for path, text in texts.items()
        if re.search(r"utf8mb4_(0900|nopad)_bin|again: loop\n +begin", text)
    ] == []
