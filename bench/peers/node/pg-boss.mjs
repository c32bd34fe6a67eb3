// pg-boss: several workers in one process, in batches, fetching at once while batches are full.
// arguments: enqueue | work, COUNT, jobs a call
import { batch, batches, count, done, need, operation, ready, url } from "./client.mjs";

const { PgBoss } = need("pg-boss");
const WORKERS = 4;

const boss = new PgBoss({ connectionString: url, max: WORKERS + 2, schedule: false, supervise: false });
boss.on("error", (error) => {
  throw error;
});
await boss.start();

async function enqueue() {
  await boss.createQueue("noop");
  await ready();
  for (const numbers of batches(batch)) {
    await boss.insert("noop", numbers.map((n) => ({ data: { n } })));
  }
}

async function work() {
  let left = count;
  let finish;
  const finished = new Promise((resolve) => (finish = resolve));
  await ready();
  const options = { batchSize: batch, localConcurrency: WORKERS, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 };
  await boss.work("noop", options, async (jobs) => {
    left -= jobs.length;
    if (left === 0) finish();
  });
  await finished;
  // what a handler returned from is completed after it
  const db = boss.getDb();
  const open = "select exists (select from pgboss.job where state <> 'completed') as open";
  while ((await db.executeSql(open)).rows[0].open) await new Promise((resolve) => setTimeout(resolve, 2));
}

await { enqueue, work }[operation]();
done();
process.exit(0);
