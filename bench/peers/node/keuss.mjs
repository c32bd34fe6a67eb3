// Keuss with its postgres backend, one message a call, one call at a time.
// arguments: install | push | pop | reserve, COUNT
import { promisify } from "node:util";
import { count, done, need, operation, ready, url } from "./client.mjs";

const open = promisify(need("keuss/backends/postgres"));

const factory = await open({ postgres: { connectionString: url, max: 1 } });
const queue = await promisify(factory.queue.bind(factory))("bench", {});
const push = promisify(queue.push.bind(queue));
const pop = promisify(queue.pop.bind(queue));
const ok = promisify(queue.ok.bind(queue));

const operations = {
  install: async () => {},
  push: async (n) => push({ n }),
  pop: async () => pop("client", {}),
  reserve: async () => ok(await pop("client", { reserve: true })),
};

await ready();
for (let n = 0; n < count; n++) await operations[operation](n);
done();
process.exit(0);
