-- Where a scan of a kind begins, see _queue_take. A session to which the scan from the start has become slow keeps one
-- as a setting of its own, a row of this table as text; here stand those that it leaves for sessions that have none.
-- Only ever appended and deleted; the newest row counts. Who changes the columns changes the name of the setting too
-- (what _queue_setting is told).
create table queue_cursor (
    id            bigint generated always as identity,
    p_kind        text collate "C" not null,
    slow_taken    integer not null,
    start_at      bigint,
    marks_at      bigint,
    turn_at       bigint,
    took          bigint,
    due           bigint,
    due_newer     bigint,
    due_older     bigint,
    back_lane     integer,
    back_place    bigint,
    back_span     bigint,
    back_took     bigint,
    hold_from     bigint,
    ranks         bigint[],
    places        bigint[],
    entries       bigint[],
    newer_places  bigint[],
    newer_entries bigint[],
    older_places  bigint[],
    older_entries bigint[],
    constraint queue_cursor_pkey primary key (p_kind, id)           -- serves: queue_reserve
);
comment on table queue_cursor is 'Where the scan of a kind begins, for sessions that have no cursor yet; internal to queue_reserve and queue_pop. Times are microseconds. (pyqueue_sql)';
comment on column queue_cursor.slow_taken is 'How many messages were taken by slow scans. From 64 on the cursor is whole; before, all that follows is NULL.';
comment on column queue_cursor.start_at is 'When the next look from the start may come, or the next step of the look back; of the real clock.';
comment on column queue_cursor.marks_at is 'When the next look from the older marks may come; of the real clock.';
comment on column queue_cursor.turn_at is 'When the marks move on: the newer become the older, the places the newer; of the real clock.';
comment on column queue_cursor.took is 'What the last scan from the start cost, see _queue_effort.';
comment on column queue_cursor.due is 'Where the timetable begins.';
comment on column queue_cursor.due_newer is 'The newer mark of the timetable.';
comment on column queue_cursor.due_older is 'The older mark of the timetable.';
comment on column queue_cursor.back_lane is 'The lane through which the look back goes, from 1; 0: the timetable.';
comment on column queue_cursor.back_place is 'How far the look back has come in it.';
comment on column queue_cursor.back_span is 'How much time a step of the look back covers.';
comment on column queue_cursor.back_took is 'What the present round of the look back has cost, see _queue_effort.';
comment on column queue_cursor.hold_from is 'Where the notes of holds begin that have not ended, see queue_hold.';
comment on column queue_cursor.ranks is 'The lanes: a rank is a priority, negated; in order.';
comment on column queue_cursor.places is 'Of each lane the place (ready_at) where a scan begins.';
comment on column queue_cursor.entries is 'Of each lane the entry at that place.';
comment on column queue_cursor.newer_places is 'The newer marks of the lanes.';
comment on column queue_cursor.newer_entries is 'The entries at the newer marks.';
comment on column queue_cursor.older_places is 'The older marks of the lanes.';
comment on column queue_cursor.older_entries is 'The entries at the older marks.';
