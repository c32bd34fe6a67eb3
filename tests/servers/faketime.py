"""The clock of one server, by libfaketime from Debian's package."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from tests.servers.binaries import UnavailableError, filled


class ServerClock:
    """A clock that goes as ours does, so many seconds away from it.

    Args:
        folder: a new one that whoever runs the server can read.

    Raises:
        UnavailableError: this is no Debian, or the package can't be fetched.
    """

    def __init__(self, folder: Path) -> None:
        found = [one for one in filled("libfaketime").rglob("libfaketime.so.1") if one.is_file()]
        if not found:
            raise UnavailableError("the package libfaketime has no libfaketime.so.1")
        self._library = Path(shutil.copy(found[0], folder))
        self._library.chmod(0o755)
        self._file = folder / "offset"
        self.offset = 0.0
        self.set(0)

    @property
    def environment(self) -> dict[str, str]:
        """What a program has to be started with."""
        return {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
            # what it does for an older C library has MySQL wait for ever
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",
        }

    @property
    def now(self) -> float:
        """Seconds since 1970, as the server has them."""
        return time.time() + self.offset

    def set(self, offset: float) -> None:
        """Let it jump to so many seconds before or after ours."""
        new = self._file.with_suffix(".new")
        new.write_text(f"{offset:+.6f}\n")
        new.chmod(0o644)
        os.replace(new, self._file)
        self.offset = offset
