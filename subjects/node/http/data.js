// The workloads that use a database.
"use strict";

const { once } = require("node:events");
const { pipeline } = require("node:stream/promises");
const { DATABASE_ENGINE, ROWS, COUNTER, PROCESSES } = process.env;
const { cached, change } = require("./cache.js");
const { page } = require("./fortunes.js");
const database = require(DATABASE_ENGINE === "postgres" ? "./postgres.js" : "./mysql.js");
const { acquire, addOne, query, release, state, stream, transaction } = database;

const statements = {
  40: "SELECT * FROM rows40_text ORDER BY id LIMIT ?",
  50: "SELECT * FROM rows50_text ORDER BY id LIMIT ?",
};
const byId = "SELECT * FROM rows40_text WHERE id = ?";

class BadRequest extends Error {}

// A whole number from the query string, from 1 to `largest`.
function number(parameters, name, largest) {
  const text = parameters.get(name) ?? "";
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > largest) throw new BadRequest(`${name} must be 1 to ${largest}`);
  return value;
}

function send(res, value) {
  const body = JSON.stringify(value);
  res.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  res.end(body);
}

async function rows(res, parameters) {
  const limit = number(parameters, "limit", 10_000);
  const fields = parameters.get("fields");
  if (!Object.hasOwn(statements, fields)) throw new BadRequest("fields must be 40 or 50");
  if (ROWS === "stream") await sendStream(res, await stream(statements[fields], [limit]));
  else send(res, await query(statements[fields], [limit]));
}

// Encodes each row as it arrives; `pipeline` makes the database wait while the client is slow.
async function sendStream(res, rows) {
  // Until the first row or the end nothing is sent, and an error can still be reported.
  await once(rows, "readable");
  res.writeHead(200, { "Content-Type": "application/json" });
  await pipeline(rows, toJson, res);
}

async function* toJson(rows) {
  let separator = "[";
  for await (const row of rows) {
    yield separator + JSON.stringify(row);
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}

async function one(res, parameters) {
  const [row] = await query(byId, [number(parameters, "id", 10_000)]);
  if (row === undefined) res.writeHead(404).end("not found");
  else send(res, row);
}

async function several(res, parameters) {
  const count = number(parameters, "n", 500);
  let x = number(parameters, "seed", 2_147_483_646);
  const found = [];
  for (let i = 0; i < count; i++) {
    x = (x * 16_807) % 2_147_483_647;
    const [row] = await query(byId, [1 + (x % 10_000)]);
    if (row === undefined) throw new Error(`there is no row ${1 + (x % 10_000)}`);
    found.push(row);
  }
  send(res, found);
}

async function fortunes(res, parameters) {
  const add = parameters.get("add") ?? "";
  const bytes = Buffer.byteLength(add);
  if (bytes < 1 || bytes > 200) throw new BadRequest("add must be 1 to 200 bytes");
  const found = await query("SELECT id, message FROM fortune");
  const body = page([...found, { id: 0, message: add }]);
  res.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Content-Length": Buffer.byteLength(body) });
  res.end(body);
}

// Adds 1 to amounts. The keys ascend: locking rows in the same order prevents deadlocks.
async function updates(res, parameters) {
  const count = number(parameters, "n", 100);
  let x = number(parameters, "seed", 2_147_483_646);
  const keys = new Set();
  for (let i = 0; i < count; i++) {
    x = (x * 16_807) % 2_147_483_647;
    keys.add(1 + (x % 10_000));
  }
  const sorted = [...keys].sort((a, b) => a - b);
  const changed = await transaction(async (ask) => {
    const rows = [];
    for (const id of sorted) {
      const [row] = await ask("SELECT amount FROM stock WHERE id = ? FOR UPDATE", [id]);
      const amount = row.amount + 1;
      await ask("UPDATE stock SET amount = ? WHERE id = ?", [amount, id]);
      rows.push({ amount, id });
    }
    return rows;
  });
  send(res, changed);
}

// One row: read, created or changed, deleted.
async function crud(res, parameters, req) {
  const id = number(parameters, "id", 1_000_000_000);
  if (req.method === "PUT") {
    const amount = await sentAmount(req);
    await change(id, () => query(database.put, [amount, id]));
    send(res, { amount, id });
  } else if (req.method === "DELETE") {
    await change(id, () => query("DELETE FROM stock WHERE id = ?", [id]));
    res.writeHead(204).end();
  } else {
    const row = await cached(id, stored);
    if (row === undefined) res.writeHead(404).end("not found");
    else send(res, row);
  }
}

async function stored(id) {
  const [row] = await query("SELECT amount, id FROM stock WHERE id = ?", [id]);
  return row;
}

async function sentAmount(req) {
  let text = "";
  for await (const chunk of req.setEncoding("utf8")) text += chunk;
  try {
    const { amount } = JSON.parse(text);
    if (Number.isInteger(amount) && amount >= 0 && amount < 1_000_000_000) return amount;
  } catch {}
  throw new BadRequest("amount must be 0 to 999999999");
}

let counted = 0;

// Several processes share no variable, only the database.
async function count(res, parameters, { method }) {
  if (COUNTER !== "database") return send(res, method === "POST" ? ++counted : counted);
  if (method === "POST") return send(res, await addOne());
  const [row] = await query("SELECT value FROM counter WHERE id = 1");
  send(res, Number(row.value));
}

async function fidelity(res) {
  send(res, await query("SELECT * FROM fidelity ORDER BY id"));
}

// Two tasks that sleep in the database at the same time, on one connection or on two.
async function sharedConnection(res, parameters) {
  const from = parameters.get("from");
  if (from !== "one" && from !== "pool") throw new BadRequest("from must be one or pool");
  const place = from === "one" ? await acquire() : undefined;
  const started = performance.now();
  const sleep = () => (place?.connection ?? { query }).query(database.sleep);
  const results = await Promise.allSettled([sleep(), sleep()]);
  if (place !== undefined) release(place);
  send(res, {
    elapsed_s: (performance.now() - started) / 1000,
    errors: results.filter((result) => result.status === "rejected").map((result) => result.reason.message),
  });
}

// Each process has a share of the pool; it assumes that the other shares look like its own.
function pool(res) {
  const ofAll = ([name, value]) => [name, value * Number(PROCESSES)];
  send(res, Object.fromEntries(Object.entries(state()).map(ofAll)));
}

const routes = {
  "/rows": rows,
  "/query": one,
  "/queries": several,
  "/fortunes": fortunes,
  "/updates": updates,
  "/crud": crud,
  "/counter": count,
  "/fidelity": fidelity,
  "/pool": pool,
  "/shared-connection": sharedConnection,
};

// Wraps each handler in the form that the server calls.
module.exports = Object.fromEntries(Object.entries(routes).map(([path, handler]) => [path, answer(handler)]));

function answer(handler) {
  return async (res, req) => {
    try {
      const [, search] = req.url.split("?", 2);
      await handler(res, new URLSearchParams(search), req);
    } catch (error) {
      if (error instanceof BadRequest) res.writeHead(400).end(error.message);
      else fail(res, req, error);
    }
  };
}

function fail(res, req, error) {
  // A client that has hung up is not a failure.
  if (res.destroyed && error.code === "ERR_STREAM_PREMATURE_CLOSE") return;
  report(req, error);
  // A partial body must not look complete.
  if (res.headersSent) res.destroy();
  else res.writeHead(503).end("the database does not answer");
}

let lastReport = -Infinity;

// At most one per second: an outage fails every request.
function report(req, error) {
  if (performance.now() - lastReport < 1_000) return;
  lastReport = performance.now();
  console.error(`${req.url}: ${error.code ?? error.name}: ${error.message}`);
}
