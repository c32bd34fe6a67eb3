-- A row a batch that was published in the last week, where its writer had a name. What was replayed has none.
-- - written_at: when.
-- - query: the query or reader whose batch it was; NULL: the writer had none.
-- - batch: the number of its batch.
-- - job: the write that did it.
-- - messages: how many were staged.
-- - pushed: how many of these became messages.
-- - ignored: how many didn't, since their keys were taken or remembered.
-- - differing: how many have another payload than the message that has their key; NULL: nobody looked.
-- - refused: how many rows the writer had made dead letters of, since they could be no messages; among messages, too.
-- Times are of UTC.
-- differs: a view has no comment. On MariaDB payloads are compared as text.
create or replace view queue_writes as
select timestamp '1970-01-01 00:00:00.000000' + interval w.written_at microsecond as written_at, w.query, w.batch,
    w.job, w.messages, w.pushed, w.messages - w.pushed as ignored, w.differing, w.refused
from queue_write w;
