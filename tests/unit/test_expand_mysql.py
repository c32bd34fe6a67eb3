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


def test_a_parameter_says_its_character_set_and_an_expression_does_not() -> None:
    text = "in a text collate exact, b varchar(20) collate exact; where a collate exact = b"
    assert expand(text) == (
        f"in a text character set utf8mb4 {COLLATION}, b varchar(20) character set utf8mb4 {COLLATION};"
        f" where a {COLLATION} = b"
    )


def test_nothing_is_left_of_what_no_server_takes() -> None:
    texts = {path: freeze_mysql.read(path) for path in (house.LIVE / "mysql").rglob("*.sql")}
    assert [
        path for path, text in texts.items() if re.search(r"collate exact|begin atomic|end atomic", text)
    ] == []


def test_no_file_writes_it_out_itself() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in (house.LIVE / "mysql").rglob("*.sql")}
    assert [
        path
        for path, text in texts.items()
        if re.search(r"utf8mb4_(0900|nopad)_bin|again: loop\n +begin", text)
    ] == []
