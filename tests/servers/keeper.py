"""The process between the tests and a server: makes its data folder, runs it, kills it, cleans up.

It ends, and the server and its folder with it, when its input ends: the kernel closes that however the tests
end. Standard input starts with one line of JSON: `home`, a folder; `owner_pid`; `steps`, each an object with
`command` and `input`, a file or null. The last step is the server, which is started again
where there is a file `again` in its folder as it ends, after as many seconds as its first line says and
with what the other lines add to its command, and not before a file `wait` is gone. It isn't started again in
the second in which it ended: UUID_SHORT() begins with the second of a start, so two in one are the same run.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

LOG_TAIL = 4000  # characters


def main() -> int:
    """Do the steps; returns 0 when the tests have ended, 1 and prints why when the server has."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    config = json.loads(sys.stdin.buffer.readline())
    home = Path(config["home"])
    try:
        for step in config["steps"]:
            status = run(step, home, config["owner_pid"])
            while status is not None and (home / "again").exists():
                away, *settings = (home / "again").read_text().split("\n")
                (home / "again").unlink()
                second = int(time.time())
                time.sleep(float(away))
                while int(time.time()) == second or (home / "wait").exists():
                    if ended(config["owner_pid"], 0.05):
                        break
                step = {**step, "command": [*step["command"], *settings]}
                status = run(step, home, config["owner_pid"])
            if status is None:
                return 0
            if status:
                print(f"{' '.join(step['command'][:2])} … ended with status {status}")
                break
        said = [log.read_text(errors="replace").strip() for log in sorted(home.glob("log*"))]
        print("\n".join(said)[-LOG_TAIL:])
        return 1
    finally:
        shutil.rmtree(home, ignore_errors=True)


def run(step: dict[str, Any], home: Path, owner_pid: int) -> int | None:
    """Run a program and return its status, or None once the tests have ended."""
    with open(home / "log", "ab") as log, open(step["input"] or os.devnull, "rb") as given:
        process = subprocess.Popen(
            step["command"], stdin=given, stdout=log, stderr=log, cwd=home, preexec_fn=die_with_keeper
        )
    try:
        while process.poll() is None:
            if ended(owner_pid, 0.05):
                return None
        return process.returncode
    finally:
        process.kill()
        process.wait()


def ended(owner_pid: int, seconds: float) -> bool:
    """Wait for so long at the most, and return whether the tests have ended."""
    readable, _, _ = select.select([sys.stdin], [], [], seconds)
    # a process that the tests forked may keep the pipe open after them
    return bool(readable) or os.getppid() != owner_pid


def die_with_keeper() -> None:
    """Let Linux kill the server where the keeper itself is killed; runs in the child."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main())
