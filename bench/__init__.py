"""What the queue costs, beside its peers and plain statements, in pairs on one server: `python -m bench`."""
