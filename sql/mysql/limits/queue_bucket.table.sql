-- The tokens of kinds with rate_per_second, in up to 16 parts, so that calls don't wait for one another. A part has a
-- token for each step of time between spent_at and now; to take some is to move spent_at on. Sessions take several
-- ahead where the rate is high, and so a part is updated about 20 times a second at the most.
create table if not exists queue_bucket (
    p_kind                 varchar(100) not null,
    part                   smallint not null,
    spent_at               bigint not null comment 'Until when the tokens of this part are spent, in nanoseconds.',
    primary key (p_kind, part) -- serves: queue_reserve, queue_pop
) engine = innodb row_format = dynamic collate exact
    comment 'Tokens of kinds with rate_per_second; internal to queue_reserve and queue_pop. (pyqueue_sql)';
