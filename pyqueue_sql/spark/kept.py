"""An iterator of record batches that can begin anew, because what it has yielded is in a file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Final

from pyqueue_sql.spark.arrow import pa

LENGTH: Final = 8
"""Bytes before each batch that say how long it is."""


class Kept:
    """What a task writes, for as often as it must be written.

    Args:
        batches: of one schema; each is asked for once.
    """

    def __init__(self, batches: Iterator[Any]) -> None:
        self._batches = batches
        self._schema: Any = None
        self._file = tempfile.TemporaryFile(prefix="pyqueue-")  # noqa: SIM115 -- closed at our own end

    def __enter__(self) -> Kept:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[Any]:
        """Yield those that were yielded before, then the others."""
        self._file.seek(0)
        while length := self._file.read(LENGTH):
            yield pa.ipc.read_record_batch(
                pa.py_buffer(self._file.read(int.from_bytes(length))), self._schema
            )
        for one in self._batches:
            self._schema = one.schema
            buffer = one.serialize()
            self._file.write(buffer.size.to_bytes(LENGTH))
            self._file.write(buffer)
            yield one
