"""Other queues, each run as its users run it, beside ours on the same server."""
