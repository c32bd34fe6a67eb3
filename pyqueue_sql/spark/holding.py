"""A process that keeps the holds of a read, and gives them back when its reader has gone.

Spark ends the process of a source by a signal that nobody can catch, whether its query is stopped or fails or
its driver is killed. So somebody else has to give back what it held: who waits at the other end of a pipe.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import queue
import subprocess
import sys
import threading

from pyqueue_sql.spark.batches import connected
from pyqueue_sql.spark.options import Options

log = logging.getLogger(__name__)


class Holding:
    """Extends the holds of a read every third of their time, and gives them back when the reader has gone.

    Args:
        options: they say where, and how long a hold is.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._process: subprocess.Popen[str] | None = None

    def keep(self, source: str, plan: int) -> None:
        """Keep what this read holds, and nothing of any other, until it is planned again."""
        try:
            self._say([source, plan])
        except BrokenPipeError:  # somebody has killed it
            log.warning("the process that kept the holds has gone, another one keeps them from now on")
            self.close()
            self._say([source, plan])

    def let_go(self) -> None:
        """Leave what it held as it is: it has ended."""
        if self._process is not None:
            with contextlib.suppress(BrokenPipeError):
                self._say(None)

    def close(self) -> None:
        """Leave, and have given back what is still held."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.wait()

    def _say(self, what: object) -> None:
        if self._process is None:
            # a session of its own, since Spark ends the whole group
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__], stdin=subprocess.PIPE, text=True, start_new_session=True
            )
            self._say(dataclasses.asdict(self._options))  # the password is in no list of processes
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()


def main() -> None:
    """Do what the reader says until it has gone."""
    said: queue.Queue[str] = queue.Queue()
    options = Options(**json.loads(sys.stdin.readline()))

    def listen() -> None:
        for line in sys.stdin:
            said.put(line)
        said.put("")

    threading.Thread(target=listen, daemon=True).start()
    read: tuple[str, int] | None = None
    while True:
        try:
            line = said.get(timeout=options.timeout_seconds / 3)
        except queue.Empty:
            line = None
        if line:
            read = json.loads(line)
        elif read is not None:
            extend(options, *read, options.timeout_seconds if line is None else 0)
        if line == "":
            return


def extend(options: Options, source: str, plan: int, seconds: float) -> None:
    """Extend the holds of a read; with 0 seconds they go back. Another run's it leaves alone."""
    try:
        with connected(options, patient=seconds == 0) as database:
            database.extend_read(source, seconds, plan=plan)
    except Exception as error:  # the next round may succeed; if none does, the holds end
        log.warning("holds not extended: %s", type(error).__name__)


if __name__ == "__main__":
    main()
