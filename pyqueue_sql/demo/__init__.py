"""The flights that left New York in 2013, replayed through the queue: `pyqueue demo`.

data reads the file, load pushes it, workers move it, ledger writes down what the workers did, check compares
that with the file, display shows it, interrupts lets Ctrl-C wait for the end of a call, replay runs it all,
cli is the command.
"""


class DemoError(Exception):
    """The demo can't go on: no data, kinds in use, a server too busy, a worker that gave up."""
