create procedure _queue_fail(in in_code char(5), in in_name varchar(250), in in_value longtext,
    in in_allowed varchar(500))
    comment 'Raises the error of a bad value.
in_code: the SQLSTATE, one a cause: PQ001 a parameter, PQ002 an option, PQ003 a payload, PQ004 refused in this state,
PQ005 a receipt, PQ006 receipts that are lost, PQ007 a kind that is for others.
in_name: the parameter or option. in_value: its value, cut at 40 characters unless it is a list of receipts. in_allowed:
what is allowed.
differs: MySQL has room for 128 characters, what is allowed is cut there, with … at its end; and each cause has a number
of its own, 31001 to 31007, for drivers that know nothing of SQLSTATEs.'
begin
    declare v_text varchar(1000);
    declare v_most int default if(in_code = 'PQ006', 400, 40);
    set v_text = concat(in_name, ' ',
        coalesce(concat('"', left(in_value, v_most), if(char_length(in_value) > v_most, '…', ''), '"'),
        'NULL'), ': ', in_allowed);
    if char_length(v_text) > 128 then
        set v_text = concat(left(v_text, 127), '…');
    end if;
    case in_code
        when 'PQ001' then signal sqlstate 'PQ001' set message_text = v_text, mysql_errno = 31001;
        when 'PQ002' then signal sqlstate 'PQ002' set message_text = v_text, mysql_errno = 31002;
        when 'PQ003' then signal sqlstate 'PQ003' set message_text = v_text, mysql_errno = 31003;
        when 'PQ004' then signal sqlstate 'PQ004' set message_text = v_text, mysql_errno = 31004;
        when 'PQ005' then signal sqlstate 'PQ005' set message_text = v_text, mysql_errno = 31005;
        when 'PQ006' then signal sqlstate 'PQ006' set message_text = v_text, mysql_errno = 31006;
        when 'PQ007' then signal sqlstate 'PQ007' set message_text = v_text, mysql_errno = 31007;
    end case;
end;
