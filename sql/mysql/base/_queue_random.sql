create procedure _queue_random(out out_random varchar(64) character set ascii)
    comment 'A random number that nobody can guess, from which a call makes the secrets of its receipts.
out_random: 64 hexadecimal digits.
differs: MariaDB before 10.10 has no generator for secrets; there it is a hash of two UUIDs, random numbers and the
time.'
begin
    /*!80000 set out_random = hex(random_bytes(32)); */
    /*M!101000 set out_random = hex(random_bytes(32)); */
    if out_random is null then
        set out_random = sha2(concat_ws('-', uuid(), rand(), rand(), connection_id(), sysdate(6), uuid()), 256);
    end if;
end;
