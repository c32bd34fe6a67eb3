// graphile-worker with the settings of its own page on performance.
// arguments: enqueue | work, COUNT, jobs a call
import { batch, batches, count, done, need, operation, ready, url } from "./client.mjs";

const { Logger, makeWorkerUtils, run } = need("graphile-worker");
const logger = new Logger(() => () => {});

async function enqueue() {
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await utils.migrate();
  await ready();
  for (const numbers of batches(batch)) {
    await utils.addJobs(numbers.map((n) => ({ identifier: "noop", payload: { n } })));
  }
  done();
  await utils.release();
}

async function work() {
  let left = count;
  let finish;
  const finished = new Promise((resolve) => (finish = resolve));
  const noop = async () => {
    if (--left === 0) finish();
  };
  await ready();
  const runner = await run({
    preset: {
      worker: {
        connectionString: url,
        concurrentJobs: 24,
        maxPoolSize: 25,
        localQueue: { size: batch },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        logger,
      },
    },
    taskList: { noop },
    noHandleSignals: true,
  });
  await finished;
  await runner.stop();
  done();
}

await { enqueue, work }[operation]();
process.exit(0);
