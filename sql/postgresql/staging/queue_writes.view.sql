create or replace view queue_writes as
select queue_timestamp(w.written_at) as written_at, w.query, w.batch, w.job, w.messages, w.pushed,
    w.messages - w.pushed as ignored, w.differing, w.refused
from queue_write w;

comment on view queue_writes is
$$A row a batch that was published in the last week, where its writer had a name. What was replayed has none.
- written_at: when.
- query: the query or reader whose batch it was; NULL: the writer had none.
- batch: the number of its batch.
- job: the write that did it.
- messages: how many were staged.
- pushed: how many of these became messages.
- ignored: how many didn't, since their keys were taken or remembered.
- differing: how many have another payload than the message that has their key; NULL: nobody looked.
- refused: how many rows the writer had made dead letters of, since they could be no messages; among messages, too.$$;
