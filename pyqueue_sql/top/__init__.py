"""`pyqueue top`: a live view of a queue in the terminal. See docs/top.md."""
