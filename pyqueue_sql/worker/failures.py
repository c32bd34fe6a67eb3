"""Why a handler failed: a short text that is kept with the message, and the traceback for the log."""

from __future__ import annotations

import re
import sysconfig
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import cast

from pyqueue_sql.calls.connect import without_password
from pyqueue_sql.worker.parsing import Misfit

ERROR_CHARACTERS = 4000
MESSAGE_CHARACTERS = 2000
"""Of what an exception says."""
TRACEBACK_CHARACTERS = 20_000
"""Of a traceback, its end: there it says what happened."""
_PASSWORD = re.compile(r"(?P<before>\w://[^\s:/@]*:|\bpassword=)[^\s@&]+")
_ELSEWHERE = "|".join(map(re.escape, (sysconfig.get_path("stdlib"), str(Path(__file__).parents[1]))))
_LIBRARY = re.compile(rf"(?:{_ELSEWHERE})[/\\]|.*[/\\](?:site|dist)-packages[/\\]")
"""What isn't the application's: Python, this package wherever it is, and what else is installed."""


@dataclass(frozen=True, eq=False, slots=True)
class Failure:
    """A failed attempt. Neither of its texts has a password of the worker's database."""

    text: str
    """What it was, and where it came from; kept with the message."""
    name: str = ""
    """Of the exception's class."""
    where: str = ""
    """The innermost line of the application's."""
    traceback: str = ""
    error: BaseException | None = None
    """What was raised."""

    @classmethod
    def of(cls, error: BaseException, url: str) -> Failure:
        """Return what a handler raised, as a failure.

        Args:
            error: it.
            url: of the worker's database.
        """
        if isinstance(error, Misfit):  # it is the payload's, and no line's
            return cls(clean(str(error)), error=error)
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_globals.get("__package__") == __package__:
            trace = trace.tb_next
        where = _where(trace)
        text = _said(error)
        try:
            told = traceback.TracebackException(type(error), error, trace, compact=True)
            _forget_columns(told)
            lines = "".join(told.format()).strip()
        except Exception:  # its own __str__ fails, say
            lines = text
        if len(lines) > TRACEBACK_CHARACTERS:
            lines = f"…{lines[-TRACEBACK_CHARACTERS:]}"
        if where:
            text += f" ({where})"
        return cls(clean(hidden(text, url)), _name(error), where, printable(hidden(lines, url)), error)


def _name(error: BaseException) -> str:
    kind = type(error)
    module = kind.__module__
    return kind.__qualname__ if module in ("builtins", "__main__") else f"{module}.{kind.__qualname__}"


def _said(error: BaseException) -> str:
    """Return the name and the message, and those of the exceptions of a group."""
    try:
        message = str(error)
    except BaseException:  # out of here it would end what runs handlers
        message = ""
    if len(message) > MESSAGE_CHARACTERS:
        message = f"{message[:MESSAGE_CHARACTERS]}…"
    text = f"{_name(error)}: {message}" if message else _name(error)
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        text += ": " + "; ".join(map(_said, group.exceptions[:5]))
    return text


def _where(trace: TracebackType | None) -> str:
    """Return the innermost line of the application, or the innermost of all where there is none."""
    frames = list(_frames(trace))
    own = [one for one in frames if not _LIBRARY.match(one[0])] or frames
    if not own:
        return ""
    file, line, function = own[-1]
    return f"{file}:{line} in {function}"


def _frames(trace: TracebackType | None) -> Iterator[tuple[str, int | None, str]]:
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith("<"):
            yield code.co_filename, trace.tb_lineno, code.co_name
        trace = trace.tb_next


def _forget_columns(told: traceback.TracebackException) -> None:
    """Leave out the marks below lines: for them the source is parsed, which isn't safe in threads of Python
    3.11."""
    chained = [told.__cause__, told.__context__, *(told.exceptions or ())]
    for frame in told.stack:
        frame.colno = None
    for one in chained:
        if one is not None:
            _forget_columns(one)


def hidden(text: str, url: str) -> str:
    """Return text without the password of a URL, or of what looks like one."""
    return _PASSWORD.sub(r"\g<before>***", without_password(text, url))


def clean(text: str) -> str:
    """Return text that may be kept with a message, not too much of it."""
    cut = text if len(text) <= ERROR_CHARACTERS else f"{text[:ERROR_CHARACTERS]}…"
    return printable(cut)


def printable(text: str) -> str:
    """Return text that every database and every log can hold."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
