// Calls routines as an application in Node.js does: a JSON line [routine, argument, …] in, a line of rows or of the error out.
// An argument {"base64": …} is bytes.
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import readline from "node:readline";

const need = createRequire(path.join(process.cwd(), "package.json"));
const url = process.env.PYQUEUE_URL;

async function connectPostgresql() {
  const { Client } = need("pg");
  const client = new Client({ connectionString: url });
  await client.connect();
  return {
    call: async (routine, given) => {
      const marks = given.map((_, place) => `$${place + 1}`).join(", ");
      return (await client.query(`select * from ${routine}(${marks})`, given)).rows;
    },
    state: (error) => error.code,
    close: () => client.end(),
  };
}

async function connectMysql() {
  const connection = await need("mysql2/promise").createConnection(url);
  return {
    call: async (routine, given) => {
      const marks = given.map(() => "?").join(", ");
      const [results] = await connection.execute(`call ${routine}(${marks})`, given);
      return results[0];
    },
    state: (error) => error.sqlState,
    close: () => connection.end(),
  };
}

const database = await (url.startsWith("postgresql:") ? connectPostgresql() : connectMysql());
for await (const line of readline.createInterface({ input: process.stdin })) {
  const [routine, ...read] = JSON.parse(line);
  const given = read.map((one) => (one?.base64 === undefined ? one : Buffer.from(one.base64, "base64")));
  try {
    console.log(JSON.stringify({ rows: await database.call(routine, given) }));
  } catch (error) {
    console.log(JSON.stringify({ state: database.state(error), number: error.errno, message: error.message }));
  }
}
await database.close();
