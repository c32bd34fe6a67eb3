// graphile-worker with the settings of its own page on performance.
// arguments: install, 0 | enqueue | delay | work, COUNT, jobs a call | latency, COUNT
import { batch, batches, count, done, latencies, need, operation, ready, url } from "./client.mjs";

const { Logger, makeWorkerUtils, run } = need("graphile-worker");
const logger = new Logger(() => () => {});

async function install() {
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await utils.migrate();
  await ready();
  done();
  await utils.release();
}

async function delay() {
  await enqueue(new Date(Date.now() + 3600_000));
}

async function enqueue(runAt) {
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await ready();
  for (const numbers of batches(batch)) {
    await utils.addJobs(numbers.map((n) => ({ identifier: "noop", payload: { n }, runAt })));
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

async function latency() {
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await utils.migrate();
  let began;
  const taskList = { noop: async () => began(process.hrtime.bigint()) };
  const runner = await run({ connectionString: url, taskList, noHandleSignals: true, logger });
  await latencies(async (n) => {
    const started = new Promise((resolve) => (began = resolve));
    await utils.addJob("noop", { n });
    return started;
  });
  await runner.stop();
  done();
}

await { install, enqueue, delay, work, latency }[operation]();
process.exit(0);
