"""The pages: what each looks for, and how it is written. None reads a table whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request

from pyqueue_sql.doctor.findings import lasting
from pyqueue_sql.models import to_datetime
from pyqueue_sql.overview import AT_MOST, Look, open_look
from pyqueue_sql.web import life, plots
from pyqueue_sql.web.watch import Watch

SHOWN = 50
"""Messages on a page."""
FOUND = 20
"""Messages of each kind that a search shows."""
ALL_FOUND = 200
MEMBERS = 200
"""Members of a group that are looked at."""
DEAD_KINDS = 50
PAYLOAD = 20_000
"""Characters of a payload that are shown."""
SECOND = 1_000_000
OLD_S = 300
"""From when on a transaction is worth a warning."""

Values = dict[str, Any]


class Site:
    """What the pages have in common.

    Args:
        url: of the database.
        schema: where the queue is.
    """

    def __init__(self, url: str, schema: str | None) -> None:
        self._url, self._schema = url, schema
        self.watch = Watch(url, schema)
        self._templates = Environment(
            loader=PackageLoader("pyqueue_sql.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        filters = cast("dict[str, Any]", self._templates.filters)  # pyright: ignore[reportUnknownMemberType]
        filters.update(many=_many, when=_when, lasting=_lasting, rate=_rate)
        names = cast("dict[str, Any]", self._templates.globals)  # pyright: ignore[reportUnknownMemberType]
        names.update(line=plots.line, bar=plots.bar, SECOND=SECOND)

    def look(self) -> AbstractContextManager[Look]:
        """Open a look at the queue, as `open_look`."""
        return open_look(self._url, self._schema)

    def render(self, template: str, **values: Any) -> str:
        """Return a page."""
        return self._templates.get_template(template).render(values)


def overview(site: Site, request: Request) -> tuple[str, Values]:  # noqa: ARG001
    """The kinds, semaphores, and what keeps dead rows."""
    seen = site.watch.seen()
    warnings = [
        f"Dead rows are kept by {one.what} {one.name} ({one.application or one.user or '?'})"
        + ("" if one.seconds is None else f" for {lasting(one.seconds)}")
        for one in seen.blockers
        if one.seconds is None or one.seconds > OLD_S
    ]
    if not any(one.alive and one.upkeep for one in seen.workers):
        warnings.append("No living worker does the upkeep: schedules don't tick, and nothing is pruned.")
    return "overview.html", {"seen": seen, "rates": site.watch.rates, "warnings": warnings}


def kind(site: Site, request: Request) -> tuple[str, Values]:
    """A kind and its messages, in the order of delivery or of their keys."""
    name, order = _given(request, "kind"), request.query_params.get("order", "delivery")
    prefix, after = request.query_params.get("prefix", ""), request.query_params.get("after", "")
    seen = site.watch.seen()
    with site.look() as look:
        if order == "key":
            found = look.by_key(name, SHOWN, seen.at, prefix=prefix, after=after)
        else:
            found = look.messages(name, SHOWN, seen.at)
        of_it = seen.kind(name)
        if of_it is None and not found:
            raise HTTPException(404, f"Nothing is known of a kind {name[:100]}.")
        values = {"sees_contents": look.sees_contents, "is_dead": name in look.dead_letter_kinds()}
    return "kind.html", {
        **values,
        "seen": seen,
        "kind": name,
        "of_it": of_it,
        "values": site.watch.rates.values(name),
        "workers": [one for one in seen.workers if one.takes(name)],
        "messages": found,
        "order": order if order == "key" else "delivery",
        "prefix": prefix,
        "next": found[-1].key if order == "key" and len(found) == SHOWN else None,
    }


def message(site: Site, request: Request) -> tuple[str, Values]:
    """A message: its life, and what is in it where this login may see that."""
    name, key = _given(request, "kind"), _given(request, "key")
    with site.look() as look:
        now = look.now()
        found, inside = look.message(name, key, now), look.contents(name, key)
        past = look.past(name, key, SHOWN)
        if found and found.source_kind is not None and found.source_key is not None:
            past += look.past(found.source_kind, found.source_key, SHOWN)
        group = look.group_of(found.member) if found and found.member is not None else None
        sees = look.sees_contents
    if found is None and not past:
        raise HTTPException(404, f"There is no message {key[:200]} in {name[:100]}, and none is remembered.")
    payload = None if inside is None else _payload(inside.payload, inside.payload_bytes)
    return "message.html", {
        "kind": name,
        "key": key,
        "message": found,
        "at": now,
        "steps": life.steps(found, past, key),
        "sees_contents": sees,
        "payload": payload,
        "headers": _headers(inside.headers) if inside else [],
        "group": group,
    }


def search(site: Site, request: Request) -> tuple[str, Values]:
    """Messages by what their keys begin with, in a kind or in all."""
    name, key = request.query_params.get("kind", ""), request.query_params.get("key", "")
    found: list[Any] = []
    with site.look() as look:
        kinds = look.kinds()
        if name or key:
            now = look.now()
            for one in [name] if name else kinds:
                found += look.by_key(one, SHOWN if name else FOUND, now, prefix=key)
                if len(found) >= ALL_FOUND:
                    break
    return "search.html", {"kinds": kinds, "kind": name, "key": key, "messages": found[:ALL_FOUND]}


def dead(site: Site, request: Request) -> tuple[str, Values]:  # noqa: ARG001
    """The dead letters."""
    with site.look() as look:
        now = look.now()
        found = [
            (name, look.dead_letters(name, now - 86400 * SECOND), look.by_key(name, FOUND, now))
            for name in look.dead_letter_kinds()[:DEAD_KINDS]
        ]
        sees = look.sees_contents
    return "dead.html", {"dead": [one for one in found if one[1][0]], "sees_contents": sees}


def workers(site: Site, request: Request) -> tuple[str, Values]:  # noqa: ARG001
    """The workers."""
    return "workers.html", {"seen": site.watch.seen()}


def schedules(site: Site, request: Request) -> tuple[str, Values]:  # noqa: ARG001
    """The schedules."""
    with site.look() as look:
        found = look.schedules()
    rules = {one.name: ", ".join(f"{name} {value}" for name, value in one.rule.items()) for one in found}
    return "schedules.html", {"schedules": found, "rules": rules}


def groups(site: Site, request: Request) -> tuple[str, Values]:
    """The groups, in the order of their names."""
    prefix, after = request.query_params.get("prefix", ""), request.query_params.get("after", "")
    with site.look() as look:
        found = look.groups(SHOWN, MEMBERS, name=prefix, after=after)
    more = found[-1].name if len(found) == SHOWN else None
    return "groups.html", {"groups": found, "prefix": prefix, "next": more, "most": MEMBERS}


def group(site: Site, request: Request) -> tuple[str, Values]:
    """A group as a graph."""
    name = _given(request, "group")
    with site.look() as look:
        found = next(iter(look.groups(1, MEMBERS, name=name)), None)
        if found is None or found.name != name:
            raise HTTPException(404, f"There is no group {name[:100]}.")
        members = look.members(name, MEMBERS)
    return "group.html", {"group": found, "graph": plots.graph(found, members), "most": MEMBERS}


PAGES: Final[Mapping[str, Callable[[Site, Request], tuple[str, Values]]]] = {
    "/": overview,
    "/kind": kind,
    "/message": message,
    "/search": search,
    "/dead": dead,
    "/workers": workers,
    "/schedules": schedules,
    "/groups": groups,
    "/group": group,
}


def _given(request: Request, name: str) -> str:
    found = request.query_params.get(name)
    if not found:
        raise HTTPException(400, f"{name}: it is missing in the address.")
    return found


def _payload(payload: Any, payload_bytes: bytes | None) -> tuple[str, int]:
    """Return a payload as a text, cut, and how much of it was cut off."""
    if payload_bytes is None:
        text = json.dumps(payload, indent=2, ensure_ascii=False)
    else:
        text = f"{len(payload_bytes)} bytes: " + payload_bytes[:PAYLOAD].hex(" ")
    return text[:PAYLOAD], max(len(text) - PAYLOAD, 0)


def _headers(headers: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in sorted((headers or {}).items())]


def _many(count: int) -> str:
    return f"{AT_MOST:,}+" if count >= AT_MOST else f"{count:,}"


def _when(time: int | None) -> str:
    return "never" if time is None else f"{to_datetime(time):%Y-%m-%d %H:%M:%S}"


def _lasting(us: int) -> str:
    return lasting(max(us, 0) / SECOND)


def _rate(value: float) -> str:
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
