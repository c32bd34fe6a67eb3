"""The main screen: kinds, and below them workers, semaphores, schedules and what holds the server up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar, cast

from rich.text import Text
from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Footer, Static, TabbedContent, TabPane

from pyqueue_sql import QueueError
from pyqueue_sql.calls import dialect
from pyqueue_sql.doctor.findings import lasting
from pyqueue_sql.models import to_datetime
from pyqueue_sql.overview import AT_MOST, Gone, KindLook, Look, Overview, Timing, act, open_look
from pyqueue_sql.overview.rates import SECOND, Rates
from pyqueue_sql.top.screens import Details, Messages, Question

SHOWN = 100
"""How many messages of a kind are shown."""
OLD_S = 300
"""From when on a transaction is shown in red."""
KINDS = (
    *("kind", "ready", "scheduled", "held", "expired", "waiting", "oldest ready", "longest held"),
    *("ended/s", "", "dead"),
)


class Top(App[None]):
    """A live view.

    Args:
        url: the database.
        schema: where the queue is; None: the current schema.
        interval: seconds between two looks.
        read_only: whether nothing can be changed from here.
    """

    TITLE = "pyqueue top"
    CSS = """
    #summary { height: auto; padding: 0 1; }
    #kinds { height: 2fr; }
    TabbedContent { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit"),
        Binding("enter", "messages", "messages", show=True, priority=False),
        Binding("p", "pause", "pause or resume"),
        Binding("r", "redrive", "redrive"),
        Binding("f5", "look", "look now"),
    ]

    def __init__(self, url: str, schema: str | None, interval: float, read_only: bool) -> None:
        super().__init__()
        self._url, self._schema, self._interval, self._read_only = url, schema, interval, read_only
        self._rates = Rates()
        self._seen: Overview | None = None
        self._looking = threading.Lock()

    def compose(self) -> ComposeResult:
        """Lay it out."""
        yield Static("looking …", id="summary")
        yield DataTable[Any](cursor_type="row", id="kinds")
        with TabbedContent():
            for name in ("workers", "semaphores", "schedules", "server"):
                with TabPane(name, id=f"tab-{name}"):
                    yield DataTable[Any](cursor_type="row", id=name)
        yield Footer()

    def on_mount(self) -> None:
        """Begin to look."""
        columns = {
            "kinds": KINDS,
            "workers": ("worker", "alive", "kinds", "upkeep", "last heartbeat", "since"),
            "semaphores": ("semaphore", "capacity", "held", "waiting"),
            "schedules": ("schedule", "kind", "next", "last", "paused"),
            "server": ("keeps dead rows", "name", "user", "application", "state", "for"),
        }
        for name, headings in columns.items():
            self._table(name).add_columns(*headings)
        self._table("kinds").focus()
        self.action_look()
        self.set_interval(self._interval, self.action_look)

    @work(thread=True)
    def action_look(self) -> None:
        """Look, unless a look is going on."""
        if not self._looking.acquire(blocking=False):
            return
        try:
            with open_look(self._url, self._schema) as look:
                seen = look.overview()
                schedules = look.schedules()
        except Exception as error:
            self._tell(self._say, f"no answer: {_said(error)}")
        else:
            self._tell(self._show, seen, schedules)
        finally:
            self._looking.release()

    def _show(self, seen: Overview, schedules: list[Timing]) -> None:
        self._seen = seen
        self._rates.add(seen)
        self._fill("kinds", {one.kind: self._kind_row(seen, one) for one in seen.kinds})
        self._fill(
            "workers",
            {
                one.worker: [
                    Text(one.worker),
                    "yes" if one.alive else Text("no", "bold red"),
                    "any" if one.kinds is None else Text(" ".join(one.kinds)),
                    "yes" if one.upkeep else "no",
                    f"{lasting((seen.at - one.heartbeat_at) / SECOND)} ago",
                    lasting((seen.at - one.started_at) / SECOND),
                ]
                for one in seen.workers
            },
        )
        lines = {
            one.name: [Text(one.name), str(one.capacity), _many(one.held), _many(one.waiting)]
            for one in seen.lines
        }
        self._fill("semaphores", lines)
        self._fill(
            "schedules",
            {
                one.name: [
                    Text(one.name),
                    Text(one.kind),
                    _when(one.next_at),
                    _when(one.last_at),
                    "yes" if one.paused else "",
                ]
                for one in schedules
            },
        )
        self._fill(
            "server",
            {
                f"{one.what} {one.name}": [
                    one.what,
                    one.name,
                    one.user or "",
                    Text(one.application or ""),
                    one.state or "",
                    _age(one.seconds),
                ]
                for one in seen.blockers
            },
        )
        self._say(*self._summary(seen))

    def _kind_row(self, seen: Overview, one: KindLook) -> list[Any]:
        rate = self._rates.rate(one.kind)
        name = Text(one.kind, "bold red" if one.kind.endswith(".dead") and one.total else "")
        if one.paused:
            name.append(" paused", "yellow")
        if one.is_more:
            name.append(" and more", "dim")
        return [
            name,
            *(_many(count) for count in (one.ready, one.scheduled, one.reserved)),
            Text(_many(one.expired), "red" if one.expired else ""),
            _many(one.waiting),
            _since(seen.at, one.oldest_ready_at),
            _since(seen.at, one.oldest_reserved_at),
            "" if rate is None else f"{rate:.1f}",
            self._rates.spark(one.kind),
            str(one.totals.dead),
        ]

    def _summary(self, seen: Overview) -> tuple[str, str]:
        alive = sum(one.alive for one in seen.workers)
        parts = [f"{len(seen.kinds)} kinds", f"{alive} of {len(seen.workers)} workers alive"]
        warning = ""
        if seen.dead is not None:
            parts.append(f"{seen.dead.rows} dead rows")
        old = [one for one in seen.blockers if one.seconds is None or one.seconds > OLD_S]
        if old:
            one = old[0]
            who = ", ".join(filter(None, (one.user, one.application, one.state)))
            warning = f"dead rows are kept by {one.what} {one.name} ({who}) for {_age(one.seconds)}"
        elif not any(one.alive and one.upkeep for one in seen.workers):
            warning = "no living worker does the upkeep"
        return "   ".join(parts), warning

    def _say(self, text: str, warning: str = "") -> None:
        line = Text(text)
        if warning:
            line.append(f"\n{warning}", "bold yellow")
        self.query_one("#summary", Static).update(line)

    def _table(self, name: str) -> DataTable[Any]:
        return cast("DataTable[Any]", self.screen_stack[0].query_one(f"#{name}", DataTable))

    def _fill(self, name: str, rows: dict[str, list[Any]]) -> None:
        """Show rows anew, with the cursor on the one that it was on, or where that is gone on its successor.

        Args:
            name: of the table.
            rows: them, by what tells one from the others.
        """
        table = self._table(name)
        place = table.cursor_coordinate
        under = table.coordinate_to_cell_key(place).row_key if table.row_count else None
        table.clear()
        for called, row in rows.items():
            table.add_row(*row, key=called)
        if rows:
            if under is not None and under in table.rows:
                row = table.get_row_index(under)
            else:
                row = min(place.row, len(rows) - 1)
            table.move_cursor(row=row, column=place.column)

    def _kind(self) -> KindLook | None:
        row = self._table("kinds").cursor_row
        return self._seen.kinds[row] if self._seen and row < len(self._seen.kinds) else None

    @on(DataTable.RowSelected, "#kinds")
    def _chosen(self) -> None:
        self.action_messages()

    def action_messages(self) -> None:
        """Show the messages of the kind under the cursor."""
        if (one := self._kind()) is not None:
            self._load_messages(one.kind)

    @work(thread=True)
    def _load_messages(self, kind: str) -> None:
        def show(look: Look) -> None:
            found = look.messages(kind, SHOWN, look.now())
            retry = None if self._read_only else self._retry
            self._tell(self.push_screen, Messages(kind, found, self._load_details, retry))

        self._look(show)

    @work(thread=True)
    def _load_details(self, kind: str, key: str) -> None:
        def show(look: Look) -> None:
            found = look.message(kind, key, look.now())
            inside, past = look.contents(kind, key), look.past(kind, key, SHOWN)
            self._tell(self.push_screen, Details(found, inside, past))

        self._look(show)

    def action_pause(self) -> None:
        """Pause the kind under the cursor, or resume it."""
        if (one := self._kind()) is not None:
            verb = "Resume" if one.paused else "Pause"
            self._ask(f"{verb} {one.kind}?", verb.lower(), one.kind)

    def action_redrive(self) -> None:
        """Bring the dead letters of the kind under the cursor back."""
        if (one := self._kind()) is not None:
            self._ask(f"Bring all dead letters in {one.kind} back?", "redrive", one.kind)

    def _retry(self, kind: str, key: str) -> None:
        self._ask(f"Make {key} in {kind} ready now?", "retry", kind, key)

    def _ask(self, text: str, action: str, kind: str, key: str = "") -> None:
        if self._read_only:
            self.notify("--read-only: nothing is changed", severity="warning")
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self._do(action, kind, key)

        self.push_screen(Question(text), answered)

    @work(thread=True)
    def _do(self, action: str, kind: str, key: str) -> None:
        try:
            said = act(self._url, self._schema, action, kind, key)
        except Exception as error:
            self._tell(self.notify, _said(error), severity="error", markup=False)
        else:
            self._tell(self.notify, said, markup=False)
            self._tell(self.action_look)

    def _tell(self, what: Callable[..., object], *args: Any, **options: Any) -> None:
        """Call in the application's own thread; where the application ends, there is nothing to show."""

        def call() -> object:
            return what(*args, **options) if self.is_running else None

        self.call_from_thread(call)

    def _look(self, work: Callable[[Look], object]) -> None:
        """Look on a connection of its own; say what the database says."""
        try:
            with open_look(self._url, self._schema) as look:
                work(look)
        except Exception as error:
            self._tell(self.notify, _said(error), severity="error", markup=False)


def _said(error: Exception) -> str:
    if isinstance(error, QueueError | Gone):
        return str(error)
    found = dialect.failure(error)
    return found.message if found else str(error)


def _many(count: int) -> str:
    return f"{AT_MOST}+" if count >= AT_MOST else str(count)


def _age(seconds: float | None) -> str:
    return "ever" if seconds is None else lasting(seconds)


def _when(time: int | None) -> str:
    return "never" if time is None else f"{to_datetime(time):%Y-%m-%d %H:%M:%S}"


def _since(now: int, then: int | None) -> str:
    return "" if then is None else lasting((now - then) / SECOND)
