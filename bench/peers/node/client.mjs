// What all clients share: their packages lie in the folder they run in, not beside their source.
import { createRequire } from "node:module";
import { once } from "node:events";
import path from "node:path";
import process from "node:process";

export const need = createRequire(path.join(process.cwd(), "package.json"));
export const url = process.env.PYQUEUE_URL;
export const [operation, count, batch] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];

export async function ready() {
  console.log("ready");
  await once(process.stdin, "data");
}

export function done() {
  console.log("done");
}

// [0, size), [size, 2 × size) … as arrays of numbers, up to count
export function* batches(size) {
  for (let start = 0; start < count; start += size) {
    yield Array.from({ length: Math.min(size, count - start) }, (_, index) => start + index);
  }
}

// Push to an idle worker again and again: each push resolves to the time, of hrtime, when its handler began.
// Before it, one push that doesn't count.
export async function latencies(push) {
  await push(-1);
  await ready();
  const found = [];
  for (let number = 0; number < count; number++) {
    await new Promise((resolve) => setTimeout(resolve, 100 + 100 * Math.random()));
    const pushed = process.hrtime.bigint();
    found.push(Number((await push(number)) - pushed) / 1e9);
  }
  console.log(JSON.stringify(found));
}
