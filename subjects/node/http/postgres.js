// This process's connection pool for PostgreSQL, with pg. It connects at the first query.
"use strict";

const { DATABASE_HOST, DATABASE_PORT, DATABASE_NAME, DATABASE_USER, DATABASE_PASSWORD, DATABASE_POOL } = process.env;
const { PG, PROTOCOL } = process.env;

const size = Number(DATABASE_POOL);
// A named statement is prepared once per connection.
const named = new Map();
let pool;

// An answer is given up with its connection if nothing has arrived in this many checks: after 2.5 to 3 s.
const LOOK_EVERY_MS = 500;
const SILENT_LOOKS = 5;

// The tasks that hold a connection, and those that wait for one. pg has a queue of its own, but its entries cannot be rejected.
const places = new Set();
const waiting = [];
const counts = { waits: 0, waitMs: 0 };

function open() {
  pool = new (require(PG).Pool)({
    host: DATABASE_HOST,
    port: Number(DATABASE_PORT),
    database: DATABASE_NAME,
    user: DATABASE_USER,
    password: DATABASE_PASSWORD,
    max: size,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: 2_000,
  });
  // An idle connection that breaks must not end the process; the pool removes it.
  pool.on("error", () => {});
  setInterval(endSilence, LOOK_EVERY_MS);
}

// A connection for one task, which must call `release`.
async function acquire() {
  if (pool === undefined) open();
  const place = { connection: undefined, bytesRead: 0, silentLooks: 0 };
  if (places.size < size) places.add(place);
  else await turn(place);
  try {
    place.connection = await pool.connect();
    return place;
  } catch (error) {
    // The error does not come from the server, so it is unreachable: a queue would last until the clients give up.
    if (error.severity === undefined) for (const { reject } of waiting.splice(0)) reject(error);
    leave(place);
    throw error;
  }
}

// Waits for a free place.
function turn(place) {
  const started = performance.now();
  counts.waits++;
  return new Promise((resolve, reject) => waiting.push({ place, resolve, reject })).finally(() => {
    counts.waitMs += performance.now() - started;
  });
}

function leave(place) {
  places.delete(place);
  const next = waiting.shift();
  if (next === undefined) return;
  places.add(next.place);
  next.resolve();
}

// After an error from the server the connection is still good; any other error breaks it.
function release(place, error) {
  place.connection.release(error !== undefined && error.severity === undefined);
  leave(place);
}

// Breaks connections whose answer, or the rest of it, does not arrive. pg can only limit the duration of a whole answer.
function endSilence() {
  for (const place of places) {
    const socket = place.connection?.connection.stream;
    if (socket === undefined) continue;
    place.silentLooks = socket.bytesRead !== place.bytesRead ? 0 : place.silentLooks + 1;
    place.bytesRead = socket.bytesRead;
    if (place.silentLooks >= SILENT_LOOKS) socket.destroy(new Error("the database has fallen silent"));
  }
}

// PostgreSQL numbers its parameters.
const numbered = (sql) => sql.split("?").reduce((text, rest, index) => `${text}$${index}${rest}`);

function name(sql) {
  if (!named.has(sql)) named.set(sql, `s${named.size}`);
  return named.get(sql);
}

const statement = (sql, values) => ({
  text: numbered(sql),
  values,
  name: PROTOCOL === "prepared" ? name(sql) : undefined,
});

// Calls `work` with a function that runs queries in one transaction, and commits.
async function transaction(work) {
  const place = await acquire();
  try {
    await place.connection.query("BEGIN");
    const result = await work(async (sql, values) => (await place.connection.query(statement(sql, values))).rows);
    await place.connection.query("COMMIT");
    release(place);
    return result;
  } catch (error) {
    // Discards the connection, so the transaction cannot reach the next request.
    place.connection.release(true);
    leave(place);
    throw error;
  }
}

// The rows of one statement.
async function query(sql, values = []) {
  const place = await acquire();
  try {
    const { rows } = await place.connection.query(statement(sql, values));
    release(place);
    return rows;
  } catch (error) {
    release(place, error);
    throw error;
  }
}

// One statement that adds and returns the new number.
async function addOne() {
  const [row] = await query("UPDATE counter SET value = value + 1 WHERE id = 1 RETURNING value");
  return Number(row.value);
}

const state = () => ({
  size,
  in_use: places.size,
  waiting: waiting.length,
  waits: counts.waits,
  wait_s: counts.waitMs / 1000,
});

const put = "INSERT INTO stock (amount, id) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET amount = excluded.amount";

module.exports = { acquire, addOne, put, query, release, sleep: "SELECT pg_sleep(0.2)", state, transaction };
