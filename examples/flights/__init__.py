"""The flights of 2013 through the queue, on Spark."""
