"""The cases of MariaDB and MySQL, beside the plain statements of an application.

Both sides are sent by PyMySQL, a process a client, on the same machine: what a client costs counts for both.
"""
