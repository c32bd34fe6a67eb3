-- written by hand: the change of the tables
-- filters
drop function _queue_define_filter(text, boolean);
--;
drop function _queue_prune_terms(bigint);
--;
drop function _queue_reserve_some(queue_kind, integer, bigint, bigint, text, bytea, jsonb);
--;
drop function _queue_pop_some(queue_kind, integer, bigint, jsonb);
--;
drop function _queue_take_where(queue_kind, integer, bigint, jsonb);
--;
drop function _queue_find_terms(text, integer, bigint, jsonb, bigint[]);
--;
drop function _queue_enter(tid[], boolean, bigint);
--;
drop function _queue_forget_terms(bigint[]);
--;
drop function _queue_index_keys(text, text[], text[]);
--;
drop function _queue_index(bigint[]);
--;
drop function _queue_terms(text, jsonb);
--;
drop function _queue_where(jsonb);
--;
drop table queue_term;
--;
alter table queue_kind
    drop column filter_index;
