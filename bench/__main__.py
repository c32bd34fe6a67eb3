"""The command line: `python -m bench --help`."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from pathlib import Path
from types import ModuleType

from bench import report, servers
from bench.cases import about, cases
from bench.run import Run
from tests.servers.binaries import UnavailableError

RESULTS = Path(__file__).parent / "results"
SERVERS = "postgresql (default), mariadb, mysql, several with commas, all, or the URL of a superuser"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return what was asked for."""
    about = "Compare the queue with its peers and with plain statements, in pairs."
    parser = argparse.ArgumentParser(prog="python -m bench", description=about)
    add = parser.add_argument
    add("--server", default="postgresql", help=SERVERS)
    add(
        "--quick",
        action="store_true",
        help="the first cases alone, small, once, and with the default durability",
    )
    add("--only", metavar="NAME,…", default="", help="these cases alone")
    add("--list", action="store_true", help="print the cases")
    add("--repetitions", type=int, help="of each side (3; with --quick 1)")
    add("--seconds", type=float, help="that one measurement takes (3; with --quick 0.5)")
    add("--hold-minutes", type=float, default=0, help="how long the open snapshot goes on being held (0)")
    add("--out", type=Path, default=RESULTS, help="the folder for the results (bench/results)")
    given = parser.parse_args(arguments)
    given.server = servers.wanted(given.server)
    given.only = [name for name in given.only.split(",") if name]
    given.repetitions = given.repetitions or (1 if given.quick else 3)
    given.seconds = given.seconds or (0.5 if given.quick else 3.0)
    known = {case.NAME for server in servers.NAMES for case in cases(server)}
    if unknown := [name for name in given.only if name not in known]:
        parser.error(f"no case is called {', '.join(unknown)}: --list")
    return given


def measure(url: str, chosen: list[ModuleType], given: argparse.Namespace) -> bool:
    """Run cases on a server, write the report, and return whether all of them ended well."""
    server = servers.name_of(url)
    run = Run(url, given.quick, given.repetitions, given.seconds, given.out, hold_minutes=given.hold_minutes)
    well = True
    try:
        for case in chosen:
            for settings in servers.durabilities(server, given.quick or getattr(case, "ONCE", False)):
                began = time.monotonic()
                print(f"\n{server}: {case.NAME}", flush=True)
                try:
                    with servers.database(url, settings) as run.url:
                        run.settings = dict(settings)
                        case.run(run)
                except Exception as error:  # the others are worth having
                    traceback.print_exc()
                    run.leave_out(case.NAME, f"it failed: {type(error).__name__}")
                    well = False
                print(f"({time.monotonic() - began:.0f} s)", flush=True)
    finally:
        run.url = url
        report.write(run)
    return well


def main() -> int:
    """Run what was asked for."""
    given = parse()
    if given.list:
        for server in servers.NAMES:
            for case in cases(server):
                print(f"{server:12}{case.NAME:16}{about(case)}")
        return 0
    well = True
    for wanted in given.server:
        try:
            with servers.server(wanted) as url:
                of_it = cases(servers.name_of(url), quick=given.quick and not given.only)
                chosen = [case for case in of_it if case.NAME in (given.only or [case.NAME])]
                well &= measure(url, chosen, given) if chosen else True
        except UnavailableError as error:
            print(f"{wanted}: LEFT OUT, {error}", flush=True)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
