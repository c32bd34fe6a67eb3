create procedure _queue_server_run(out out_run bigint)
    comment 'Names the run of the server: another one after a start, after a failover, and at another node of a cluster.
out_run: a number, never 0: its id and when it started, with which UUID_SHORT() begins. That counts on in the bits
behind, so that the name changes once in 16 million of its numbers, too. Two starts in one second have the same.
differs: the result is out_run.'
begin
    set out_run = 1 + (uuid_short() >> 24);
end;
