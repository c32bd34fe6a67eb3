"""Small wrong changes of the queue, and whether the tests see them: see the README."""
