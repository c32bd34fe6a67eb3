"""Cases on PostgreSQL, beside pgmq and plain statements; the load comes from the server's pgbench."""
