"""The screens over the main one: a question, the messages of a kind, one message."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import DataTable, Footer, Static

from pyqueue_sql.models import to_datetime
from pyqueue_sql.overview import Contents, MessageLook, Past


class Question(ModalScreen[bool]):
    """A question before something is changed.

    Args:
        text: what would be done.
    """

    CSS = """
    Question { align: center middle; }
    Question > Static { width: auto; max-width: 80%; padding: 1 3; border: thick $warning; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "yes"),
        Binding("n,escape", "dismiss(False)", "no"),
    ]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """Show it."""
        yield Static(Text(f"{self._text}\n\n[y] yes   [n] no"), id="question")


class Messages(Screen[None]):
    """Messages of a kind, those that come first.

    Args:
        kind: the kind.
        messages: them.
        look: shows one of them.
        retry: makes one ready now, after a question; None: nothing may be changed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "app.pop_screen", "back"),
        Binding("t", "retry", "try now"),
    ]

    def __init__(
        self,
        kind: str,
        messages: Sequence[MessageLook],
        look: Callable[[str, str], object],
        retry: Callable[[str, str], None] | None,
    ) -> None:
        super().__init__()
        self._kind, self._messages, self._look, self._retry = kind, messages, look, retry

    def compose(self) -> ComposeResult:
        """Show them."""
        yield Static(Text(f"{self._kind}: the first {len(self._messages)}; enter looks into one"), id="title")
        yield DataTable[Any](cursor_type="row", id="messages")
        yield Footer()

    def on_mount(self) -> None:
        """Fill the table."""
        table = self._table()
        table.add_columns("key", "state", "attempts", "scheduled at", "held by", "last error")
        for one in self._messages:
            table.add_row(
                Text(one.key),
                one.state,
                str(one.attempts),
                f"{to_datetime(one.scheduled_at):%Y-%m-%d %H:%M:%S}",
                Text(one.reserved_by or ""),
                Text((one.error or "")[:80]),
            )

    def _table(self) -> DataTable[Any]:
        return cast("DataTable[Any]", self.query_one("#messages", DataTable))

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Look into a message."""
        self._look(self._kind, self._messages[event.cursor_row].key)

    def action_retry(self) -> None:
        """Make the message under the cursor ready now."""
        table = self._table()
        if self._retry is None:
            self.notify("--read-only: nothing is changed", severity="warning")
        elif self._messages:
            self._retry(self._kind, self._messages[table.cursor_row].key)


class Details(Screen[None]):
    """One message: its fields, payload, errors and past.

    Args:
        message: it, None where it is gone.
        inside: what is in it, None where this login may not see that.
        past: what has ended under its key, where the kind keeps a history.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "app.pop_screen", "back")]

    def __init__(self, message: MessageLook | None, inside: Contents | None, past: Sequence[Past]) -> None:
        super().__init__()
        self._message, self._inside, self._past = message, inside, past

    def compose(self) -> ComposeResult:
        """Show it."""
        with VerticalScroll():
            yield Static(Text("\n".join(self._lines())), id="details")
        yield Footer()

    def _lines(self) -> list[str]:
        one = self._message
        if one is None:
            lines = ["The message is gone."]
        else:
            lines = [
                f"kind      {one.kind}",
                f"key       {one.key}",
                f"state     {one.state}",
                f"priority  {one.priority}",
                f"attempts  {one.attempts}",
                f"created   {to_datetime(one.created_at):%Y-%m-%d %H:%M:%S} UTC",
                f"scheduled {to_datetime(one.scheduled_at):%Y-%m-%d %H:%M:%S} UTC",
                f"held by   {one.reserved_by or '-'}",
                *self._contents(),
            ]
            if one.errors:
                lines += ["", "errors, the newest last"]
                lines += [
                    f"{to_datetime(int(error['at'])):%Y-%m-%d %H:%M:%S} attempt {error.get('attempt')}"
                    f" by {error.get('by')}: {error.get('error')}"
                    for error in one.errors
                ]
        if self._past:
            lines += ["", "history"]
            lines += [
                f"{to_datetime(past.finished_at):%Y-%m-%d %H:%M:%S} {past.outcome}, attempts {past.attempts}"
                for past in self._past
            ]
        return [_printable(line) for line in lines]

    def _contents(self) -> list[str]:
        one = self._inside
        if one is None:
            return ["", "payload, headers and errors: not for this login"]
        payload = (
            json.dumps(one.payload, indent=2, ensure_ascii=False)
            if one.payload_bytes is None
            else f"{len(one.payload_bytes)} bytes"
        )
        return [f"headers   {json.dumps(one.headers or {}, ensure_ascii=False)}", "", "payload", payload]


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
