create procedure _queue_several_nodes(out out_several boolean)
    comment 'Whether other servers may be written to as well as this one: in a Galera cluster, and in a group of MySQL
with several primaries. They see nothing of the sessions and the named locks of this one.
out_several: that. It takes two milliseconds to find out.
differs: PostgreSQL has one server that is written to.'
begin
    declare v_several int default 0;
    /*M!100600 select count(*) into v_several from information_schema.global_variables v
    where v.variable_name = 'WSREP_ON' and v.variable_value = 'ON'; */
    /*!80017 select count(*) into v_several from performance_schema.global_variables v
    where v.variable_name = 'group_replication_single_primary_mode' and v.variable_value = 'OFF'; */
    set out_several = v_several > 0;
end;
