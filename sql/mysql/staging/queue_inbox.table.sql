-- Messages as plain rows, for INSERT, LOAD DATA and writers that know nothing of routines. Where the server allows a
-- trigger, it pushes each row as it comes in; else the next queue_reserve, queue_pop or queue_prune does. These also
-- take the rows out, and what they can't push becomes a dead letter, but for what the constraints refuse at once.
-- differs: a key may be longer than a key can be, so that it is refused and not cut where the session isn't strict.
-- differs: rows stay for a moment, because a trigger can't delete from the table that it is for.
create table if not exists queue_inbox (
    id                     bigint not null auto_increment
        comment 'The row; never given.',
    p_kind                 varchar(100)
        comment 'The kind, 1 to 95 characters.',
    p_key                  varchar(300)
        comment 'The key, 1 to 200 characters; NULL: a time-ordered UUID.',
    payload                longtext
        comment 'The payload as JSON text.',
    payload_bytes          longblob
        comment 'The payload where it is binary; both NULL: a payload of JSON null.',
    headers                longtext
        comment 'The headers as JSON text; NULL for none.',
    priority               int
        comment 'Higher first; NULL: 0.',
    delay_seconds          decimal(30,6)
        comment 'Deliver so many seconds from now; NULL: at once.',
    scheduled_at           bigint
        comment 'Deliver at this time, in microseconds since 1970-01-01 UTC; not with delay_seconds.',
    attempts               int
        comment 'Deliveries that are behind it already; NULL: 0.',
    max_attempts           int
        comment 'Deliveries it may have; NULL: as its kind says.',
    taken                  boolean not null default false
        comment 'Whether its message was pushed as it came in, by a trigger; never given.',
    primary key (id), -- serves: _queue_drain_inbox
    constraint queue_inbox_kind check (p_kind is not null and char_length(p_kind) between 1 and 95),
    constraint queue_inbox_key check (char_length(p_key) between 1 and 200),
    constraint queue_inbox_payload check (taken or payload_bytes is not null and payload is null or json_valid(payload))
) engine = innodb row_format = dynamic collate exact
    comment 'INSERT or LOAD DATA messages into it. They are pushed at once where the server allows a trigger, else by the next queue_reserve, queue_pop or queue_prune. A key that is taken is ignored, a row that is wrong names itself. (pyqueue_sql)';
