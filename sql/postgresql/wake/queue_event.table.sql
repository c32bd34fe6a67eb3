-- When somebody was last notified of something new: a mark for each of the 16 channels (see _queue_wake), the time in
-- milliseconds and the lower 21 bits of the transaction. Sequences, because those aren't versioned: what all pushes
-- look at and some of them write doesn't grow under a snapshot.
create sequence queue_event_0;
create sequence queue_event_1;
create sequence queue_event_2;
create sequence queue_event_3;
create sequence queue_event_4;
create sequence queue_event_5;
create sequence queue_event_6;
create sequence queue_event_7;
create sequence queue_event_8;
create sequence queue_event_9;
create sequence queue_event_10;
create sequence queue_event_11;
create sequence queue_event_12;
create sequence queue_event_13;
create sequence queue_event_14;
create sequence queue_event_15;
comment on sequence queue_event_0 is 'The last event of channel pyqueue_0; internal to _queue_wake.';
comment on sequence queue_event_1 is 'The last event of channel pyqueue_1; internal to _queue_wake.';
comment on sequence queue_event_2 is 'The last event of channel pyqueue_2; internal to _queue_wake.';
comment on sequence queue_event_3 is 'The last event of channel pyqueue_3; internal to _queue_wake.';
comment on sequence queue_event_4 is 'The last event of channel pyqueue_4; internal to _queue_wake.';
comment on sequence queue_event_5 is 'The last event of channel pyqueue_5; internal to _queue_wake.';
comment on sequence queue_event_6 is 'The last event of channel pyqueue_6; internal to _queue_wake.';
comment on sequence queue_event_7 is 'The last event of channel pyqueue_7; internal to _queue_wake.';
comment on sequence queue_event_8 is 'The last event of channel pyqueue_8; internal to _queue_wake.';
comment on sequence queue_event_9 is 'The last event of channel pyqueue_9; internal to _queue_wake.';
comment on sequence queue_event_10 is 'The last event of channel pyqueue_10; internal to _queue_wake.';
comment on sequence queue_event_11 is 'The last event of channel pyqueue_11; internal to _queue_wake.';
comment on sequence queue_event_12 is 'The last event of channel pyqueue_12; internal to _queue_wake.';
comment on sequence queue_event_13 is 'The last event of channel pyqueue_13; internal to _queue_wake.';
comment on sequence queue_event_14 is 'The last event of channel pyqueue_14; internal to _queue_wake.';
comment on sequence queue_event_15 is 'The last event of channel pyqueue_15; internal to _queue_wake.';
-- What nobody but the owner knows: the names of the settings in which sessions keep what they may not write come from
-- it.
create sequence queue_secret minvalue -9223372036854775808;
do $$
begin
    perform setval('queue_secret'::regclass,
        ('x' || right(replace(gen_random_uuid()::text, '-', ''), 15))::bit(60)::bigint);
end $$;
comment on sequence queue_secret is 'A number that nobody but the owner knows; internal to _queue_setting.';
