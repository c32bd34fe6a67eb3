"""The two words that a client says, and what all are given."""

import os
import sys

URL = os.environ["PYQUEUE_URL"]
OPERATION, COUNT, *REST = sys.argv[1:]


def ready() -> None:
    """Say that the work can begin, and wait until it may."""
    print("ready", flush=True)
    sys.stdin.readline()


def done() -> None:
    """Say that everything is done and committed."""
    print("done", flush=True)
