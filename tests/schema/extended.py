"""A PostgreSQL of its own that has the files of the extension; no server that is there is changed."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pyqueue_sql.embedded import EmbeddedServer, start_server
from pyqueue_sql.embedded.server import wheel_bin_dir
from tests.conftest import BINARIES_VARIABLE, SETTINGS
from tests.servers.memory import in_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextlib.contextmanager
def server(install: Callable[[Path], object]) -> Iterator[tuple[EmbeddedServer, Path]]:
    """Give a server, and the folder of its programs, which are copies.

    Args:
        install: puts files into the folder of extensions that it is given.
    """
    named = os.environ.get(BINARIES_VARIABLE)
    with tempfile.TemporaryDirectory(prefix="pyqueue-extended-") as scratch:
        place = Path(scratch)
        place.chmod(0o755)  # the account of the server has to get there
        given = Path(named) if named else wheel_bin_dir()
        root = given.parents[1] if named is None else given.parent
        copy = place / root.name
        shutil.copytree(root, copy, symlinks=True)
        libraries = root.with_name(f"{root.name}.libs")
        if libraries.exists():  # of the wheel, found from the programs' place
            shutil.copytree(libraries, place / libraries.name, symlinks=True)
        programs = copy / given.relative_to(root)
        [control] = programs.parent.glob("share/**/extension/plpgsql.control")
        install(control.parent)
        with in_memory():
            started = start_server(bin_dir=programs, settings=SETTINGS)
        with started:
            yield started, programs
