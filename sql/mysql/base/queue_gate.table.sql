-- Every call reads this table first and so holds its metadata lock until it ends: whoever has it under LOCK TABLES …
-- WRITE can replace routines while no call is between two of them, and calls wait instead of failing.
-- differs: PostgreSQL replaces a routine in a transaction.
create table if not exists queue_gate (
    id int not null,
    primary key (id)
) engine = innodb row_format = dynamic collate exact
    comment 'Empty, for its metadata lock: calls pass it, an upgrade closes it while it replaces routines. (pyqueue_sql)';
