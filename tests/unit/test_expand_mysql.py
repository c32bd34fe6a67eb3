"""What the files of sql/mysql leave out is written out when they are frozen."""

from __future__ import annotations

import re

import pytest

from tools import freeze_mysql, house
from tools.expand_mysql import CHARACTER_SET, COLLATION, expand

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


def test_a_comment_between_declarations_leaves_them_together() -> None:
    comments = "        -- which; not of the body\n        -- either\n"
    first = "        declare c cursor for select 1;\n"
    text = CALL.replace(
        first, f"{comments}{first}{comments}        declare d cursor for select 2;\n{comments}"
    )
    lines = [line.strip() for line in expand(text).splitlines()]
    order = ["-- which", "declare c", "-- which", "declare d", "handler for 1213", "_queue_begin", "-- which"]
    places = [n for n, line in enumerate(lines) if line.startswith("--") or any(one in line for one in order)]
    found = [lines[n] for n in places if lines[n] != "-- either"]
    assert [what in line for what, line in zip(order, found, strict=True)] == [True] * len(order)


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


REMOVED = """\
    delete u from (select n.id from queue_use n limit 9) n
        straight_join queue_use u on u.id = n.id
    where u.used_at < v_now skip locked by (p_kind varchar(100) collate exact,
        id bigint) into v_rows;
    delete c from queue_count c skip locked by (id bigint);
"""


def test_what_others_have_locked_is_left_where_rows_are_removed() -> None:
    first, second = (" ".join(text.split()) for text in expand(REMOVED).split("end;\n")[:2])
    assert (
        "select json_arrayagg(json_array(unlocked.p_kind, unlocked.id)) into v_unlocked"
        " from (select u.p_kind, u.id from (select n.id from queue_use n limit 9) n"
        " straight_join queue_use u on u.id = n.id"
        " where u.used_at < v_now for update /*!80000 of u */ skip locked) unlocked;"
    ) in first
    assert (
        f"columns (p_kind varchar(100) character set utf8mb4 {COLLATION} path '$[0]', id bigint path '$[1]')"
        in first
    )
    assert (
        "straight_join queue_use u force index (primary)"
        " on u.p_kind = unlocked.p_kind and u.id = unlocked.id;"
        " set v_rows = v_rows + json_length(v_unlocked); end if;"
    ) in first
    # each is told what a session may have set
    assert second.count("set statement") == 2
    assert "set v_" not in second


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


SORTED = "    select j.place from unnest({}) j (place {}) {};\n"


@pytest.mark.parametrize(
    ("rows", "column", "rest", "is_a_table"),
    [
        ("v_list", "int", "order by j.place", True),
        ("coalesce(in_list, '[]')", "varchar(60) collate exact", "where true order by j.place", True),
        ("v_list", "int", "", False),
        ("v_list", "int", "straight_join t order by t.place", False),
        ("t.list", "int", "order by j.place", False),
        ("v_list", "longtext", "order by j.place", False),
        ("v_list", "json", "order by j.place", False),
    ],
)
def test_a_list_that_is_sorted_is_a_table_on_mariadb(
    rows: str, column: str, rest: str, is_a_table: bool
) -> None:
    text = expand(SORTED.format(rows, column, rest))
    written = column.replace("collate exact", f"{CHARACTER_SET} {COLLATION}").replace(
        "text", f"text {CHARACTER_SET}"
    )
    listed = f"json_table({rows}, '$[*]' columns (place {written} path '$')) j"
    of_mariadb = f"/*M!100600 (select * from */ {listed} /*M!100600 limit 1000000000) j */"
    assert f"from {of_mariadb if is_a_table else listed} {rest};" in text


def test_a_parameter_says_its_character_set_and_an_expression_does_not() -> None:
    text = "in a text collate exact, b varchar(20) collate exact; where a collate exact = b"
    assert expand(text) == (
        f"in a text character set utf8mb4 {COLLATION}, b varchar(20) character set utf8mb4 {COLLATION};"
        f" where a {COLLATION} = b"
    )


def test_an_option_is_asked_for_as_on_postgresql() -> None:
    text = "if in_options ? 'to' and not v_each ? 'result' and v_all -> 'key' = 1 then -- ? or ->"
    assert expand(text) == (
        "if json_contains_path(in_options, 'one', '$.to')"
        " and not json_contains_path(v_each, 'one', '$.result')"
        " and json_extract(v_all, '$.key') = 1 then -- ? or ->"
    )


def test_whether_a_text_is_a_receipt_is_an_expression() -> None:
    assert expand("if _queue_is_receipt(r.receipt) is not true then") == (
        r"if (r.receipt collate utf8mb4_bin regexp '^[0-9]{1,19}-[0-9a-f]{32}\\z'"
        " and lpad(r.receipt, 52, '0') < '9223372036854775808') is not true then"
    )


def test_whether_a_worker_is_alive_is_an_expression() -> None:
    assert expand("where not _queue_is_alive(o, n.now) or") == (
        "where not if(o.session_lock is null, abs(n.now - o.heartbeat_at) < o.timeout_seconds * 1000000,"
        " is_used_lock(o.session_lock) <=> o.session_id) or"
    )


def test_a_list_has_rows_whose_columns_are_told_by_their_places() -> None:
    one = "from unnest(coalesce(v_list, '[]')) j (n for ordinality, entry bigint unsigned) where"
    assert expand(one) == (
        "from json_table(coalesce(v_list, '[]'), '$[*]' columns (n for ordinality,"
        " entry bigint unsigned path '$')) j where"
    )
    several = "unnest(in_list) r (entry bigint, secret char(32), name varchar(9) collate exact, value json)"
    assert expand(several) == (
        "json_table(in_list, '$[*]' columns (entry bigint path '$[0]',"
        " secret char(32) character set utf8mb4 path '$[1]',"
        f" name varchar(9) character set utf8mb4 {COLLATION} path '$[2]', value json path '$[3]')) r"
    )
    deleted = "    delete q from unnest(v_all) j (entry bigint) join delayed_queue q on q.entry = j.entry;"
    assert "sql_safe_updates = 0" in expand(deleted)


TEXTS = """\
create procedure _queue_work(in in_one longtext, out out_two varchar(10), in in_three text collate exact,
    in in_four longtext character set ascii)
    comment 'What isn''t a text longtext, says so.'
begin
    declare v_a, v_b char(4) default 'a text ('; -- not a text here
    select j.name, cast(j.n as char(9)) into v_a, v_b
    from json_table(in_one, '$[*]' columns (name text path '$.text', n int path '$')) j
    where j.name <> '\\\\' and j.name <> 'a varchar(1) ' and in_text is null;
end;
"""


def test_a_text_of_a_routine_that_names_no_character_set_is_utf8mb4() -> None:
    told = expand(TEXTS)
    said = " character set utf8mb4"
    assert told.count(said) == 5
    for before in (
        "in_one longtext",
        "out_two varchar(10)",
        "v_a, v_b char(4)",
        "(name text",
        "in_three text",
    ):
        assert before + said in told
    table = "create table queue_kind (\n    p_kind longtext\n) character set utf8mb4;\n"
    assert expand(table) == table


def test_messages_are_found_by_a_list_in_its_order() -> None:
    join = "straight_join delayed_queue {0} force index (primary) on {0}.entry = j.entry"
    assert expand("    update messages(coalesce(v_all, '[]')) e set e.pending = null;") == (
        "    /*M!100600 set statement sql_safe_updates = 0 for */"
        " update json_table(coalesce(v_all, '[]'), '$[*]' columns (entry bigint path '$')) j"
        f" {join.format('e')} set e.pending = null;"
    )
    assert expand("from messages(v_all) with ordinality q") == (
        "from json_table(v_all, '$[*]' columns (place for ordinality, entry bigint path '$')) j"
        f" {join.format('q')}"
    )
    assert expand("from deliveries(v_list) q where j.place > 1 for update of q;") == (
        "from json_table(v_list, '$[*]' columns (entry bigint path '$[0]',"
        " secret char(32) character set utf8mb4 path '$[1]', place int path '$[2]')) j"
        f" {join.format('q')} and q.secret = unhex(j.secret) where j.place > 1 for update /*!80000 of q */;"
    )


def test_a_row_that_is_as_most_are_is_told_by_one_condition() -> None:
    text = expand("if _queue_is_plain_row(new) and v_special = 0 then")
    assert text.startswith("if (char_length(new.p_kind) between 1 and 95 and ")
    assert text.endswith(", true)) and v_special = 0 then")
    assert "row." not in text
    columns = {"p_kind", "p_key", "payload", "payload_bytes", "headers", "priority", "delay_seconds"}
    assert set(re.findall(r"\bnew\.(\w+)", text)) == columns | {"scheduled_at", "attempts", "max_attempts"}


def test_what_is_staged_is_found_by_its_parts() -> None:
    assert expand("    delete s from staged(in_parts) s;") == (
        "    /*M!100600 set statement sql_safe_updates = 0 for */"
        " delete s from json_table(in_parts, '$[*]' columns (part bigint path '$.part')) j"
        " straight_join queue_stage s force index (queue_stage_of_part) on s.part = j.part;"
    )


def test_leaves_are_a_document_a_path_and_a_value() -> None:
    text = expand("from leaves(v_leaves) l where")
    assert text.startswith("from json_table(v_leaves, '$[*]' columns (d bigint path '$.d', p longtext ")
    assert text.endswith(" path '$.c')) l where")
    assert expand("call _queue_leaves(v_all);") == "call _queue_leaves(v_all);"
    text = expand("from documents(v_all) r;")
    assert text.startswith("from json_table(v_all, '$.*' columns (d bigint path '$.d', v longtext ")


def test_what_may_match_is_asked_of_both_documents() -> None:
    text = " ".join(expand("where (in_path is null or may match(q))").split())
    assert text.startswith("where (in_path is null or /*M!100600 if(locate('\\\\', q.payload) > 0")
    for name in ("payload", "headers"):
        assert f"json_unquote(json_extract(q.{name}, in_path)) = in_text" in text
        assert f"json_extract(q.{name}, in_path) + 0e0 = in_number" in text
        assert f"locate(v_name, q.{name}, locate(v_name, q.{name}) + 1) > 0" in text
    # a server that isn't MariaDB reads neither the first IF nor its end
    assert [text.count(one) for one in ("/*M!100600", "*/", " or if(", "(", ")")] == [4, 4, 0, 25, 25]


OURS = re.compile(
    r"collate exact|(begin|end) atomic|for each \w+ into|end each;|\w (\?|->) '|for update of|skip locked by"
    r"|\b(_queue_is_\w+|may match|messages|deliveries|leaves|staged|unnest)\("
)


def test_nothing_is_left_of_what_no_server_takes() -> None:
    texts = {path: freeze_mysql.read(path) for path in (house.LIVE / "mysql").rglob("*.sql")}
    assert [path for path, text in texts.items() if OURS.search(text)] == []


def test_no_file_writes_it_out_itself() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in (house.LIVE / "mysql").rglob("*.sql")}
    assert [
        path
        for path, text in texts.items()
        if re.search(r"utf8mb4_(0900|nopad)_bin|again: loop\n +begin|!80000 of", text)
        or (
            re.search(r"(text|char\(\d+\)) character set utf8mb4", text)
            and not re.search(r"^create table", text)
        )
    ] == []
