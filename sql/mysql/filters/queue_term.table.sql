-- What the messages of kinds with a filter_index have in them: a row a value of payload or headers, hashed with its
-- path and the kind. A row of a message that has gone means nothing, since an entry number is used once, and is cleared
-- away by whoever finds it: so what ends a message needn't know of this table.
create table if not exists queue_term (
    entry                  bigint not null,
    term                   bigint not null,
    place                  bigint not null,
    primary key (entry, term), -- serves: queue_push (a replacement), queue_prune
    key queue_term_place (term, place, entry) -- serves: queue_reserve, queue_pop (those with a filter)
) engine = innodb row_format = dynamic collate exact
    comment 'What the messages of kinds with a filter_index have in them, hashed; place is a time before which the message can''t be due. Internal. (pyqueue_sql)';
