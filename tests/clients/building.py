"""Drivers without wheels, built once for all clones, with a C library out of a package of Debian's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.servers.binaries import CACHE, UnavailableError, alone, filled

ROOT = Path(__file__).parents[2]
LIBRARY = "libmariadb-dev"
ARCHIVES = "libmariadb*.deb"
CONFIG = """#!/bin/sh
# what MariaDB Connector/Python asks of the C library where it is built
case "$1" in
    --cc_version) echo {version} ;;
    --libs) echo "-L{libraries} -lmariadb" ;;
    --include) echo "-I{headers}" ;;
    --plugindir) echo "{libraries}/libmariadb3/plugin" ;;
esac
"""


def importable(package: str) -> None:
    """Have a package where Python finds it, built where that isn't done yet.

    Args:
        package: its name, pinned in requirements/constraints.txt.

    Raises:
        UnavailableError: it can't be built here; says why.
    """
    place = CACHE / f"{package}-{sys.implementation.cache_tag}"
    if not (place / "complete").exists():
        with alone(package):
            if not (place / "complete").exists():
                build(package, place)
    if str(place) not in sys.path:
        sys.path.append(str(place))
    # else the C library looks for its ways to log in where the package would have been installed
    [plugins] = filled(LIBRARY, ARCHIVES).glob("usr/lib/**/libmariadb3/plugin")
    os.environ["MARIADB_PLUGIN_DIR"] = str(plugins)


def build(package: str, place: Path) -> None:
    """Build a package into a folder of its own."""
    if not shutil.which(os.environ.get("CC", "cc")):
        raise UnavailableError(
            f"{package} has no wheel for this system, and there is no C compiler to build it"
        )
    library = filled(LIBRARY, ARCHIVES)
    [headers] = library.glob("usr/include/mariadb")
    libraries = next(library.glob("usr/lib/**/libmariadb.so")).parent
    version = (headers / "mariadb_version.h").read_text().partition('PACKAGE_VERSION "')[2].partition('"')[0]
    config = library / "mariadb_config"
    config.write_text(CONFIG.format(version=version, libraries=libraries, headers=headers))
    config.chmod(0o755)
    shutil.rmtree(place, ignore_errors=True)
    pins = str(ROOT / "requirements" / "constraints.txt")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-cache-dir"]  # pip would keep what knows the place of the library
    done = subprocess.run(
        [*command, f"--target={place}", "--no-binary", package, package],
        env=os.environ
        | {
            "PIP_CONSTRAINT": pins,
            "PIP_BUILD_CONSTRAINT": pins,
            "MYSQLCLIENT_CFLAGS": f"-I{headers}",
            "MYSQLCLIENT_LDFLAGS": f"-L{libraries} -lmariadb",
            "MARIADB_CONFIG": str(config),
            "LDFLAGS": f"-Wl,-rpath,{libraries}",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise UnavailableError(f"{package} can't be built: {(done.stderr or done.stdout).strip()[-500:]}")
    (place / "complete").touch()
