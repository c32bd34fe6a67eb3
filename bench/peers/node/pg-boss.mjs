// pg-boss: several workers in one process, in batches, fetching at once while batches are full.
// arguments: install, 0 | enqueue | delay | work, COUNT, jobs a call | latency, COUNT
import { batch, batches, count, done, latencies, need, operation, ready, url } from "./client.mjs";

const { PgBoss } = need("pg-boss");
const WORKERS = 4;

const boss = new PgBoss({
  connectionString: url,
  max: WORKERS + 2,
  schedule: false,
  supervise: false,
  useListenNotify: operation === "latency",
});
boss.on("error", (error) => {
  throw error;
});
await boss.start();

async function install() {
  await boss.createQueue("noop");
  await ready();
}

async function delay() {
  await enqueue(3600);
}

async function enqueue(startAfter) {
  await ready();
  for (const numbers of batches(batch)) {
    await boss.insert("noop", numbers.map((n) => ({ data: { n }, startAfter })));
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
  const open = "select exists (select from pgboss.job where state <> 'completed' and start_after <= now()) as open";
  while ((await db.executeSql(open)).rows[0].open) await new Promise((resolve) => setTimeout(resolve, 2));
}

async function latency() {
  await boss.createQueue("noop", { notify: true });
  let began;
  await boss.work("noop", async () => began(process.hrtime.bigint()));
  await latencies(async (n) => {
    const started = new Promise((resolve) => (began = resolve));
    await boss.send("noop", { n });
    return started;
  });
}

await { install, enqueue, delay, work, latency }[operation]();
done();
process.exit(0);
