"""What one client process of a queue does: it prints `ready`, waits for a line, works, and prints `done`."""
