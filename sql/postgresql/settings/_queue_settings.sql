-- calls: _queue_defaults
create or replace function _queue_settings(in_kind text) returns queue_kind language plpgsql as $$
declare
    v_kind queue_kind;
begin
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind;
    if not found then
        v_kind := _queue_defaults();
        v_kind.p_kind := in_kind;
    end if;
    return v_kind;
end $$;

comment on function _queue_settings(text) is
$$The settings of a kind; one that nobody defined has the defaults.
in_kind: the kind.
Result: the row of queue_kind, made up where there is none.
differs: on MariaDB and MySQL a call reads the columns that it needs; see _queue_defaults.$$;
