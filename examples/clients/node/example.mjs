// A consumer in Node.js. PYQUEUE_URL is postgresql://user:password@host:port/database, or mysql://… for MySQL and MariaDB.
import process from "node:process";
import mysql from "mysql2/promise";
import pg from "pg";

const url = process.env.PYQUEUE_URL;

class OnPostgresql {
  async connect() {
    this.client = new pg.Client({ connectionString: url });
    await this.client.connect();
  }

  async call(routine, ...given) {
    const marks = given.map((_, place) => `$${place + 1}`).join(", ");
    return (await this.client.query(`select * from ${routine}(${marks})`, given)).rows;
  }

  // Listens first and looks then: what is pushed between the two is an event.
  async wait(kind, seconds) {
    const kinds = JSON.stringify([kind]);
    const until = Date.now() + seconds * 1000;
    const again = [0.05, 0.2, 1]; // a push may have been committing
    const { rows } = await this.client.query("select channel from queue_listen($1)", [kinds]);
    await this.client.query(`listen ${rows[0].channel}`);
    for (;;) {
      const looked = await this.client.query("select ready, next_seconds from queue_listen($1)", [kinds]);
      const left = (until - Date.now()) / 1000;
      if (looked.rows[0].ready || left <= 0) return looked.rows[0].ready;
      await this.event(Math.min(left, again.shift() ?? left, looked.rows[0].next_seconds ?? left));
    }
  }

  event(seconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, seconds * 1000);
      this.client.once("notification", () => { clearTimeout(timer); resolve(); });
    });
  }

  state(error) { return error.code; }
  close() { return this.client.end(); }
}

class OnMysql {
  async connect() {
    this.connection = await mysql.createConnection(url);
    await this.connection.query("set session transaction isolation level read committed");
  }

  async call(routine, ...given) {
    const marks = given.map(() => "?").join(", ");
    return (await this.connection.execute(`call ${routine}(${marks})`, given))[0][0];
  }

  async wait(kind, seconds) {
    return (await this.call("queue_wait", JSON.stringify([kind]), seconds)).length > 0;
  }

  state(error) { return error.sqlState; }
  close() { return this.connection.end(); }
}

const queue = url.startsWith("postgresql:") ? new OnPostgresql() : new OnMysql();
await queue.connect();
// node-postgres and mysql2 give JSON as values; MariaDB sends it as text
const to = (row) => (typeof row.payload === "string" ? JSON.parse(row.payload) : row.payload).to;

for (const [key, name] of [["m1", "ann"], ["m1", "eve"], ["m2", "bob"], ["m3", "carol"]]) {
  const [pushed] = await queue.call("queue_push", "mail", key, JSON.stringify({ to: name }), null);
  console.log(`push ${key}: ${pushed.outcome}`);
}

const [first] = await queue.call("queue_reserve", "mail", "example", 1, null);
console.log(`reserve: ${first.p_key} for ${to(first)}`);
const [kept] = await queue.call("queue_extend", first.receipt, 600);
console.log(`extend: ${kept.outcome}`);

// the loop of a consumer: acks what is done, and takes the next
const [second] = await queue.call("queue_next", JSON.stringify([first.receipt]), "mail", "example", 1, null);
console.log(`next: ${second.p_key} for ${to(second)}`);
const failed = JSON.stringify({ error: "no such address", delay_seconds: 600 });
const [back] = await queue.call("queue_nack", second.receipt, failed);
console.log(`nack: ${back.outcome}`);

const [third] = await queue.call("queue_next", null, "mail", "example", 1, null);
console.log(`next: ${third.p_key} for ${to(third)}`);
const [moved] = await queue.call("queue_move", third.receipt, "sent", null);
console.log(`move: ${moved.outcome}`);

const [sent] = await queue.call("queue_reserve", "sent", "example", 1, null);
console.log(`reserve: ${sent.p_key} for ${to(sent)}`);
for (let time = 1; time <= 2; time += 1) {
  const [done] = await queue.call("queue_ack", sent.receipt, null);
  console.log(`ack: ${done.outcome}`); // the second comes too late, which is an answer and no error
}

try {
  await queue.call("queue_push", "", "m1", "{}", null);
} catch (error) {
  console.log(`refused: ${queue.state(error)}`);
}

console.log("waiting for a message");
console.log(`woken: ${await queue.wait("mail", 300)}`);
const [late] = await queue.call("queue_reserve", "mail", "example", 1, null);
console.log(`reserve: ${late.p_key} for ${to(late)}`);
// who ends gives back what it holds, and the attempt doesn't count
const [given] = await queue.call("queue_nack", late.receipt, JSON.stringify({ count: false }));
console.log(`give back: ${given.outcome}`);
await queue.close();
console.log("closed");
