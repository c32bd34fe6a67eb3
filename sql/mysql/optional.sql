-- What some servers refuse: functions that write and the trigger of the inbox where the binary log is on and
-- log_bin_trust_function_creators is off (errors 1418, 1419), roles where the user may not create any (1227). The queue
-- works without.

set names utf8mb4;
set session sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO';

-- functions
source functions/queue_ack.sql
source functions/queue_push.sql
source functions/queue_reserve.sql
source functions/queue_time.sql
source functions/queue_timestamp.sql

-- triggers
source triggers/queue_inbox.sql

-- roles and rights
source grants.sql
source grants_functions.sql
