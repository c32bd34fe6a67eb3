"""The flights that left New York in 2013, replayed through the queue: `pyqueue demo`.

data reads the file, load pushes it, workers move it, ledger writes down what the workers did, check compares
that with the file, display shows it, interrupts lets Ctrl-C wait for the end of a call, replay runs it all,
cli is the command.
"""

from collections.abc import Sequence


class DemoError(Exception):
    """The demo can't go on: no data, kinds in use, a server too busy, a worker that gave up."""


class InUse(DemoError):  # noqa: N818 -- named after what is so
    """There are messages already in kinds of the demo."""

    def __init__(self, kinds: Sequence[str]) -> None:
        super().__init__(f"there are messages already in the kinds of the demo: {', '.join(kinds)}")
        self.kinds = kinds


class Unfinished(KeyboardInterrupt):
    """An interrupt before all kinds of the demo were removed."""

    def __init__(self, kinds: Sequence[str]) -> None:
        super().__init__(f"interrupted before everything was removed; left: {', '.join(kinds)}")
        self.kinds = kinds
