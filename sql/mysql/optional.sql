-- What some servers refuse: functions that write and the trigger of the inbox where the binary log is on and
-- log_bin_trust_function_creators is off (errors 1418, 1419), roles where the user may not create any (1227). The queue
-- works without.

set names utf8mb4;
set session sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO';

-- functions
source end/queue_ack.function.sql
source arrive/queue_push.function.sql
source deliver/queue_reserve.function.sql
source base/queue_time.function.sql
source base/queue_timestamp.function.sql

-- triggers
source staging/queue_inbox.trigger.sql

-- roles and rights
source grants.sql
source grants_functions.sql
