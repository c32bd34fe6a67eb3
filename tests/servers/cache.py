"""Where downloads are kept between clones: below XDG_CACHE_HOME, else ~/.cache."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

VARIABLE = "XDG_CACHE_HOME"


def cache(name: str) -> Path:
    """Return the folder for one sort of downloads, for this sort of machine; it need not be there yet.

    Where the user has no folder that can be written to, it is below the virtual environment.
    """
    base = Path(os.environ.get(VARIABLE) or Path.home() / ".cache")
    top = next((one for one in (base, *base.parents) if one.exists()), base)
    if not os.access(top, os.W_OK):
        return Path(sys.prefix) / name
    return base / "pyqueue_sql" / f"{sys.platform}-{platform.machine()}" / name
