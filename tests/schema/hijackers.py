# ruff: noqa: E501
"""What somebody who may create in the queue's schema can do there: overloads of all that bodies name.

Each is fit to be preferred to what is meant: the server prefers a function of exactly the types that it is called
with to one that wants a cast, is polymorphic or has a default, wherever in the search path that is, takes text for a
bare string, and an operator of the type of its other side. They are found by the catalog and by the text of the
bodies, not by a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import psycopg

from tests.schema.sources import routines

OURS = """select p.proname, pg_get_function_result(p.oid), p.proretset, p.pronargdefaults, p.proargmodes::text[],
    coalesce(p.proargnames, '{}'),
    array(select format_type(t.t, null) from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]))
        with ordinality t (t, n) order by t.n)
from pg_proc p where p.pronamespace = current_schema()::regnamespace and p.proname ~ '^_queue_' and p.pronargs > 0"""
CASTS = """select format_type(c.casttarget, null), array_agg(format_type(c.castsource, null)) from pg_cast c
where c.castcontext = 'i' and c.castsource <> c.casttarget group by 1"""
THEIRS = """select distinct p.proname, array(select format_type(t.t, null) from unnest(p.proargtypes::oid[])
    with ordinality t (t, n) order by t.n)
from pg_proc p where p.pronamespace = 'pg_catalog'::regnamespace and p.proname = any (%s) and p.pronargs > 0"""
OPERATORS = """select distinct o.oprname, array[format_type(o.oprleft, null), format_type(o.oprright, null)]
from pg_operator o where o.oprnamespace = 'pg_catalog'::regnamespace and o.oprname = any (%s) and o.oprleft <> 0"""
USED = (
    *(
        "boolean",
        "smallint",
        "integer",
        "bigint",
        "numeric",
        "double precision",
        "text",
        "name",
        "jsonb",
        "bytea",
    ),
    *(
        "uuid",
        "interval",
        "timestamp with time zone",
        "oid",
        "regclass",
        "tid",
        "text[]",
        "bigint[]",
        "integer[]",
    ),
    *("tid[]", "bytea[]", "jsonb[]", "boolean[]", "delayed_queue", "queue_kind"),
)
"""The types that are used in bodies."""
ATTEMPT = """create function pg_temp.attempt(in_text text) returns void language plpgsql as $$
begin
    execute in_text;
exception -- some fit in two ways, or are none that one may create
    when duplicate_function or undefined_object or feature_not_supported or invalid_function_definition then null;
end $$"""
POLYMORPHIC = re.compile(r'^(any\w*|"any")$')


def overloads(connection: psycopg.Connection[Any]) -> Iterator[str]:
    """Give the statements that create overloads of our own names."""
    casts = dict(connection.execute(CASTS).fetchall())
    for name, result, many, defaults, modes, names, types in connection.execute(OURS).fetchall():
        ins = [n for n in range(len(types)) if not modes or modes[n] in "iv"]
        outs = [n for n in range(len(types)) if modes and modes[n] == "o"]
        returns = "" if outs and not many else f"returns {result}"

        statement = partial(overload, name, returns, names, types, outs)
        for filled in range(1, defaults + 1):
            yield statement(ins[:-filled], {})
        for n in ins:
            for other in sorted({*casts.get(types[n], ()), "text"} - {types[n]}):
                yield statement(ins, {n: other})


def overload(
    name: str,
    returns: str,
    names: list[str],
    types: list[str],
    outs: list[int],
    taken: list[int],
    kinds: dict[int, str],
) -> str:
    """Return the statement that creates one with the parameters that are taken, some of another type."""
    parameters = [f'"{names[n]}" {kinds.get(n, types[n])}' for n in taken]
    parameters += [f'out "{names[n]}" {types[n]}' for n in outs]
    which = ", ".join(kinds.values()) or "by default"
    return (
        f"create function {name}({', '.join(parameters)}) {returns} language plpgsql as"
        f" $$begin raise 'hijacked: {name}, {which}'; end$$"
    )


def exact(types: list[str], casts: dict[str, list[str]]) -> Iterator[list[str]]:
    """Give types that fit better than those of one of the server's functions or operators."""
    for used in USED:
        array = used if used.endswith("[]") else f"{used}[]"
        if any(POLYMORPHIC.match(one) for one in types):
            yield [
                array if "array" in one and "non" not in one else used if POLYMORPHIC.match(one) else one
                for one in types
            ]
    for n, one in enumerate(types):
        for other in {*casts.get(one, ()), *(USED if len(types) == 2 and one in USED else ())} - {one}:
            if other in USED:
                yield [*types[:n], other, *types[n + 1 :]]


def tokens() -> tuple[list[str], list[str]]:
    """Return the words before a bracket, and the operators, of all bodies."""
    bodies = [re.sub(r"'(?:[^']|'')*'|--[^\n]*", "''", one.create) for one in routines().values()]
    text = "\n".join(bodies)
    words = set(re.findall(r"(?<![\w.])([a-z][a-z0-9_]*)\s*\(", text))
    words |= {
        "like_escape",
        "timezone",
        "btrim",
        "substring",
        "position",
        "extract",
        "date_part",
        "overlay",
    }  # syntax
    return sorted(words), sorted({*re.findall(r"[-+*/<>=~!@#%^&|?]+", text), "=", "~~", "!~~", "<>"})


def create(connection: psycopg.Connection[Any]) -> int:
    """Create them all in the current schema, and return how many they are."""
    casts = dict(connection.execute(CASTS).fetchall())
    words, signs = tokens()
    texts = [*overloads(connection)]
    for name, types in connection.execute(THEIRS, [words]).fetchall():
        if not any(one in ("internal", "cstring", "trigger", "event_trigger") for one in types):
            texts += [function(f'"{name}"', each) for each in exact(types, casts) if all(map(fits, each))]
    pairs: dict[tuple[str, ...], int] = {}
    for name, types in connection.execute(OPERATORS, [signs]).fetchall():
        for pair in map(tuple, exact(types, casts)):
            if all(map(fits, pair)):
                if pair not in pairs:
                    pairs[pair] = len(pairs)
                    texts.append(function(f"hijack_{pairs[pair]}", [*pair]))
                texts.append(
                    f"create operator {name} (leftarg = {pair[0]}, rightarg = {pair[1]}, function = hijack_{pairs[pair]})"
                )
    texts = list(dict.fromkeys(texts))
    connection.execute("set check_function_bodies = off")
    with connection.transaction():
        connection.execute(ATTEMPT)
        connection.execute("select pg_temp.attempt(t) from unnest(%s::text[]) t", [texts])
    return len(texts)


def function(name: str, types: list[str]) -> str:
    """Return the statement that creates a function which says that it was called."""
    return f"create function {name}({', '.join(types)}) returns boolean language plpgsql as $$begin raise 'hijacked: {name.strip(chr(34))}'; end$$"


def fits(kind: str) -> bool:
    """Return whether a parameter may be of a type."""
    return not POLYMORPHIC.match(kind) and not kind.startswith("any") and kind not in ("void", "internal")
