"""The house rules of the SQL of MariaDB and MySQL, read off its text: no server is asked."""

from __future__ import annotations

import re
from pathlib import Path

from pyqueue_sql.schema.reload_mysql import SETTINGS
from pyqueue_sql.schema.routine_mysql import closing
from tests.rules import every
from tests.schema.sources_mysql import SQL, File, files
from tools import freeze_mysql, house
from tools.freeze_mysql import split

FILES = list(files().values())
ROUTINES = [one for one in FILES if one.routine.kind != "trigger"]
MOST_LINES = 120
READ_THE_CLOCK = {"queue_now", "_queue_ticks", "_queue_random"}
END_TRANSACTIONS = {"_queue_begin", "_queue_begin_alone", "_queue_commit", "_queue_undo"}
TABLES = house.files(SQL, "table")

each_file = every(FILES, lambda one: one.path.name)
each_routine = every(ROUTINES, lambda one: one.path.name)
each_table = every(TABLES, house.name)


@each_file
def test_a_file_is_one_routine_that_is_dropped_before(file: File) -> None:
    routine = file.routine
    assert routine.name == house.name(file.path)
    assert house.kind(file.path).replace("routine", "procedure") == routine.kind
    drop = re.sub(r"(?m)^--.*\n", "", file.statements[0])
    assert drop == f"drop {routine.kind} if exists {routine.name};"
    assert len(file.statements) == 2


@each_file
def test_the_body_is_static_sql(file: File) -> None:
    assert not re.findall(r"\b(prepare|execute|deallocate)\b", file.code, re.IGNORECASE)


@each_file
def test_a_condition_reads_no_table(file: File) -> None:
    """What a subquery in an IF, a SET or an argument reads is locked; a SELECT … INTO reads without."""
    conditions = re.findall(
        r"(?m)^ *(?:(?:if|elseif|while) [^;]*?\b(?:then|do) *$|(?:until |set (?:v_|out_|@)|call )[^;]*;)",
        file.code,
    )
    assert [one for one in conditions if re.search(r"\b(?:from|join)\s+(?:queue_|delayed_)", one)] == []


@each_file
def test_what_is_there_for_a_row_is_looked_up(file: File) -> None:
    """MariaDB makes a list of a whole table out of an EXISTS or IN that depends on a row outside."""
    code = re.sub(r"\s+", " ", file.code)
    depends: list[str] = []
    for found in re.finditer(r"\b(?:exists|in) (\() ?select ", code, re.IGNORECASE):
        inside = code[found.end() : closing(code, found.start(1))]
        of_its_own = set(re.findall(r"\b(?:from|join) (?:queue_|delayed_)\w+ (\w+)", inside))
        if of_its_own and set(re.findall(r"\b([a-z])\.[a-z]", inside)) - of_its_own:
            depends.append(inside)
    assert depends == []


@each_file
def test_only_the_frame_of_a_call_ends_transactions(file: File) -> None:
    found = re.findall(
        r"\b(commit|rollback|start\s+transaction|savepoint|set\s+transaction)\b", file.code, re.IGNORECASE
    )
    assert file.routine.name in END_TRANSACTIONS or found == []


@each_file
def test_nothing_commits_the_callers_work(file: File) -> None:
    found = r"\b(create|alter|drop|truncate|rename|grant|revoke|lock\s+tables|analyze|optimize)\s+\w+"
    assert re.findall(found, file.code, re.IGNORECASE) == []
    assert not re.findall(r"\binsert\s+ignore\b|\breplace\s+into\b", file.code, re.IGNORECASE)


@each_file
def test_names_say_what_is_a_parameter_and_what_a_variable(file: File) -> None:
    if file.routine.kind != "trigger":
        wrong = [
            name for mode, name in file.parameters if not name.startswith("in_" if mode == "in" else "out_")
        ]
        assert wrong == []
    # i is the counter of a loop
    assert {name for name in file.variables if not name.startswith("v_")} <= {"i"}


@each_file
def test_the_sessions_own_variables_are_ours_by_name(file: File) -> None:
    found = set(re.findall(r"(?<!@)@(\w+)", file.code))
    assert [name for name in found if not name.startswith("pyqueue_")] == []


@each_file
def test_a_routine_fits_on_a_screen(file: File) -> None:
    documentation = file.routine.comment.count("\n")
    assert file.routine.text.count("\n") + 1 - documentation <= MOST_LINES


@each_file
def test_only_the_clocks_say_what_time_it_is(file: File) -> None:
    # a function of the time of the statement is what SET timestamp moves
    assert not re.search(
        r"\b(now|utc_timestamp|utc_time|utc_date|current_timestamp|localtime|localtimestamp|curdate|curtime"
        r"|current_date|current_time|unix_timestamp)\b",
        file.code,
        re.IGNORECASE,
    )
    assert file.routine.name in READ_THE_CLOCK or "sysdate" not in file.code.lower()


@each_file
def test_columns_are_qualified(file: File) -> None:
    """A variable or a parameter of a column's name would silently be taken for it: none has one."""
    columns = {
        name for path in TABLES for name in re.findall(r"(?m)^ {4}(\w+) ", path.read_text(encoding="utf-8"))
    }
    for what in re.findall(
        r"\b(?:where|and|or|on)\s+(\w+)\s*(?:=|<|>|is|in|between)", file.code, re.IGNORECASE
    ):
        assert what not in columns, what


@each_file
def test_versions_are_marked_in_the_two_ways_that_are_told_apart(file: File) -> None:
    marks = re.findall(r"/\*(M?!\d*)", file.routine.text)
    assert [mark for mark in marks if not re.fullmatch(r"!8\d{4}|M!1\d{5}", mark)] == []


@each_routine
def test_the_comment_names_each_parameter(file: File) -> None:
    comment = " ".join(file.routine.comment.split())
    assert comment, "no comment"
    if re.search(r"[Tt]he other parameters|those of _?queue_\w+|those of the procedure", comment):
        return
    # what comes out may be told as the result
    wanted = [name for mode, name in file.parameters if mode == "in" or "Result: " not in comment]
    assert [name for name in wanted if not re.search(rf"\b{name}\b", comment)] == []


@each_routine
def test_parameters_of_text_say_their_character_set(file: File) -> None:
    types = re.findall(
        r"\b((?:long|medium|tiny)?text|(?:var)?char\(\d+\))(?! character set)", file.routine.parameters
    )
    assert types == []


@each_table
def test_a_table_can_be_made_again_and_says_what_it_is(path: Path) -> None:
    [text] = split(path.read_text(encoding="utf-8"))
    assert f"create table if not exists {house.name(path)} (" in text
    form = r"\n\) engine = innodb row_format = dynamic collate exact\n\s+comment '(?:[^']|'')+';$"
    assert re.search(form, text)


@each_table
def test_every_index_says_what_it_serves(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    keys = re.findall(r"(?m)^ {4}((?:primary |unique )?key .*)$", text)
    assert keys
    # a number of their own is there only because group replication wants a primary key
    assert [key for key in keys if "-- serves: " not in key and "primary key (id)" not in key] == []


@every(["delayed_queue", "queue_history", "queue_inbox"])
def test_what_people_look_at_has_a_comment_on_every_column(name: str) -> None:
    text = house.file(SQL, name, "table").read_text(encoding="utf-8")
    columns = re.findall(r"(?m)^ {4}(\w+) +\w+.*\n +comment '", text)
    body = re.findall(r"(?m)^ {4}(\w+) ", text)
    words = {"primary", "unique", "key", "constraint", "comment"}
    assert columns == [word for word in body if word not in words]


def test_views_can_be_made_again() -> None:
    for path in house.files(SQL, "view"):
        text = " ".join(path.read_text(encoding="utf-8").split())
        assert f"create or replace view {house.name(path)} as" in text


def test_the_manifests_set_what_routines_keep() -> None:
    for name in ("install.sql", "optional.sql"):
        text = freeze_mysql.SOURCE.sub("", (SQL / name).read_text(encoding="utf-8"))
        found = [re.sub(r"(?m)^--.*\n|\n(?=--)", "", one).strip() for one in split(text)]
        assert [one for one in found if "queue_version" not in one] == [f"{one};" for one in SETTINGS]
