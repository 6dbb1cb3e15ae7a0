// The workloads that use a database.
import { cached, change } from "./cache.js";
import { page } from "./fortunes.js";

const { DRIVER, ROWS, COUNTER, PROCESSES } = process.env;

if (ROWS === "stream" && DRIVER !== "mysql2") throw new Error("Bun.SQL has no way to stream rows: use the driver mysql2");

let database;

// The driver is loaded, and connects, only when the first request needs data.
const load = () => (database ??= import(DRIVER === "mysql2" ? "./mysql2.js" : "./sql.js"));

class BadRequest extends Error {}

// A whole number from the query string, from 1 to `largest`.
function number(parameters, name, largest) {
  const text = parameters.get(name) ?? "";
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > largest) throw new BadRequest(`${name} must be 1 to ${largest}`);
  return value;
}

async function rows(database, parameters) {
  const limit = number(parameters, "limit", 10_000);
  const fields = parameters.get("fields");
  if (fields !== "40" && fields !== "50") throw new BadRequest("fields must be 40 or 50");
  if (ROWS === "stream") return streamed(await database.stream(fields, limit));
  return Response.json(await database.rows(fields, limit));
}

// Encodes each row as it arrives. Bun pulls more when the client has taken what there is; until then the database waits.
async function streamed(rows) {
  const texts = toJson(rows);
  // Until the first row or the end nothing is sent, and an error can still be reported.
  const first = await texts.next();
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(first.value);
    },
    async pull(controller) {
      const { value, done } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      rows.destroy();
    },
  });
  return new Response(body, { headers: { "Content-Type": "application/json" } });
}

async function* toJson(rows) {
  let separator = "[";
  for await (const row of rows) {
    yield separator + JSON.stringify(row);
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}

async function one(database, parameters) {
  const row = await database.one(number(parameters, "id", 10_000));
  return row === undefined ? new Response("not found", { status: 404 }) : Response.json(row);
}

async function several(database, parameters) {
  const count = number(parameters, "n", 500);
  let x = number(parameters, "seed", 2_147_483_646);
  const found = [];
  for (let i = 0; i < count; i++) {
    x = (x * 16_807) % 2_147_483_647;
    const row = await database.one(1 + (x % 10_000));
    if (row === undefined) throw new Error(`there is no row ${1 + (x % 10_000)}`);
    found.push(row);
  }
  return Response.json(found);
}

async function fortunes(database, parameters) {
  const add = parameters.get("add") ?? "";
  const bytes = Buffer.byteLength(add);
  if (bytes < 1 || bytes > 200) throw new BadRequest("add must be 1 to 200 bytes");
  const found = await database.fortunes();
  const headers = { "Content-Type": "text/html; charset=utf-8" };
  return new Response(page([...found, { id: 0, message: add }]), { headers });
}

// Adds 1 to amounts. The keys ascend: locking rows in the same order prevents deadlocks.
async function updates(database, parameters) {
  const count = number(parameters, "n", 100);
  let x = number(parameters, "seed", 2_147_483_646);
  const keys = new Set();
  for (let i = 0; i < count; i++) {
    x = (x * 16_807) % 2_147_483_647;
    keys.add(1 + (x % 10_000));
  }
  return Response.json(await database.addToAll([...keys].sort((a, b) => a - b)));
}

// One row: read, created or changed, deleted.
async function crud(database, parameters, request) {
  const id = number(parameters, "id", 1_000_000_000);
  if (request.method === "PUT") {
    const amount = await sentAmount(request);
    await change(id, () => database.put(amount, id));
    return Response.json({ amount, id });
  }
  if (request.method === "DELETE") {
    await change(id, () => database.remove(id));
    return new Response(null, { status: 204 });
  }
  const row = await cached(id, database.stored);
  return row === undefined ? new Response("not found", { status: 404 }) : Response.json(row);
}

async function sentAmount(request) {
  try {
    const { amount } = await request.json();
    if (Number.isInteger(amount) && amount >= 0 && amount < 1_000_000_000) return amount;
  } catch {}
  throw new BadRequest("amount must be 0 to 999999999");
}

let counted = 0;

// Several processes share no variable, only the database.
async function count(database, parameters, { method }) {
  if (COUNTER !== "database") return Response.json(method === "POST" ? ++counted : counted);
  return Response.json(method === "POST" ? await database.addOne() : await database.counted());
}

// Two tasks that sleep in the database at the same time, on one connection or on two.
async function sharedConnection(database, parameters) {
  const from = parameters.get("from");
  if (from !== "one" && from !== "pool") throw new BadRequest("from must be one or pool");
  return database.sleeping(from, async (sleep) => {
    const started = performance.now();
    const results = await Promise.allSettled([sleep(), sleep()]);
    return Response.json({
      elapsed_s: (performance.now() - started) / 1000,
      errors: results.filter((result) => result.status === "rejected").map((result) => result.reason.message),
    });
  });
}

// Each process has a share of the pool; it assumes that the other shares look like its own.
async function pool(database) {
  const ofAll = ([name, value]) => [name, value === null ? null : value * Number(PROCESSES)];
  return Response.json(Object.fromEntries(Object.entries(database.state()).map(ofAll)));
}

const handlers = {
  "/rows": rows,
  "/query": one,
  "/queries": several,
  "/fortunes": fortunes,
  "/updates": updates,
  "/crud": crud,
  "/counter": count,
  "/fidelity": async (database) => Response.json(await database.fidelity()),
  "/pool": pool,
  "/shared-connection": sharedConnection,
};

function answer(path, handler) {
  return async (request) => {
    try {
      return await handler(await load(), new URL(request.url).searchParams, request);
    } catch (error) {
      if (error instanceof BadRequest) return new Response(error.message, { status: 400 });
      report(path, error);
      return new Response("the database does not answer", { status: 503 });
    }
  };
}

let lastReport = -Infinity;

// At most one per second: an outage fails every request.
function report(path, error) {
  if (performance.now() - lastReport < 1_000) return;
  lastReport = performance.now();
  console.error(`${path}: ${error.code ?? error.name}: ${error.message}`);
}

export const routes = Object.fromEntries(
  Object.entries(handlers).map(([path, handler]) => [path, answer(path, handler)]),
);
