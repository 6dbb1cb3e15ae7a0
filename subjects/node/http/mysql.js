// This process's connection pool for MySQL and MariaDB, with mysql2. It connects at the first query.
"use strict";

const { DATABASE_HOST, DATABASE_PORT, DATABASE_NAME, DATABASE_USER, DATABASE_PASSWORD, DATABASE_POOL } = process.env;
const { MYSQL2, PROTOCOL } = process.env;

const prepared = PROTOCOL === "prepared";
const send = prepared ? "execute" : "query";
// `execute` sends numbers as doubles, which MySQL rejects in a LIMIT; `query` requires a number there.
const typed = (values) => (prepared ? values.map(String) : values);
const size = Number(DATABASE_POOL);
let pool;

// A connection counts as broken if nothing has arrived in this many checks: after 2.5 to 3 s.
const LOOK_EVERY_MS = 500;
const SILENT_LOOKS = 5;

// The tasks that hold a connection, and those that wait for one. mysql2 has a queue of its own, but its entries cannot be rejected.
const places = new Set();
const waiting = [];
const counts = { waits: 0, waitMs: 0 };

function open() {
  pool = require(MYSQL2).createPool({
    host: DATABASE_HOST,
    port: Number(DATABASE_PORT),
    database: DATABASE_NAME,
    user: DATABASE_USER,
    password: DATABASE_PASSWORD,
    connectionLimit: size,
    connectTimeout: 2_000,
    dateStrings: true,
  });
  // An idle connection that breaks must not end the process; the pool removes it.
  pool.on("connection", (connection) => connection.on("error", () => {}));
  setInterval(endSilence, LOOK_EVERY_MS);
}

// A connection for one task, which must call `release`.
async function acquire() {
  if (pool === undefined) open();
  const place = { connection: undefined, bytesRead: 0, silentLooks: 0 };
  if (places.size < size) places.add(place);
  else await turn(place);
  try {
    place.connection = await pool.getConnection();
    return place;
  } catch (error) {
    // The error does not come from the server, so it is unreachable: a queue would last until the clients give up.
    if (error.sqlState === undefined) giveUp(error);
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

function giveUp(error) {
  for (const { reject } of waiting.splice(0)) reject(error);
}

function release(place) {
  place.connection.release();
  leave(place);
}

// Breaks connections whose answer, or the rest of it, does not arrive. mysql2 can only limit the duration of a whole answer. But a
// long answer is not a failure, nor is one that waits for a slow client, whose connection is paused.
function endSilence() {
  for (const place of places) {
    const socket = place.connection?.connection.stream;
    if (socket === undefined) continue;
    const goesOn = socket.bytesRead !== place.bytesRead || socket.isPaused();
    place.silentLooks = goesOn ? 0 : place.silentLooks + 1;
    place.bytesRead = socket.bytesRead;
    if (place.silentLooks >= SILENT_LOOKS) socket.destroy(new Error("the database has fallen silent"));
  }
}

// The rows of a SELECT, or the result of another statement.
async function query(sql, values = []) {
  const place = await acquire();
  try {
    const [rows] = await place.connection[send](sql, typed(values));
    return rows;
  } finally {
    release(place);
  }
}

// Calls `work` with a function that runs queries in one transaction, and commits.
async function transaction(work) {
  const place = await acquire();
  const { connection } = place;
  try {
    await connection.beginTransaction();
    const result = await work(async (sql, values) => (await connection[send](sql, typed(values)))[0]);
    await connection.commit();
    return result;
  } catch (error) {
    // Destroys the connection, so the transaction cannot reach the next request.
    connection.destroy();
    throw error;
  } finally {
    release(place);
  }
}

// LAST_INSERT_ID returns the new number in the same answer.
async function addOne() {
  return (await query("UPDATE counter SET value = LAST_INSERT_ID(value + 1) WHERE id = 1")).insertId;
}

// The rows one by one. If the client leaves, the driver reads and discards the rest, so the connection stays clean.
async function stream(sql, values = []) {
  const place = await acquire();
  // The connection without its promise wrapper: only this one can stream.
  const { connection } = place.connection;
  const command = connection[send](sql, typed(values));
  const rows = command.stream();
  let open = true;
  const done = () => {
    if (open) release(place);
    open = false;
    connection.off("error", broken);
  };
  // A stream is not notified when its connection breaks.
  const broken = (error) => {
    rows.destroy(error);
    done();
  };
  connection.on("error", broken);
  command.once("end", done);
  // Ignores errors in the rest of the result once the stream is closed.
  command.on("error", () => {});
  return rows;
}

const state = () => ({
  size,
  in_use: places.size,
  waiting: waiting.length,
  waits: counts.waits,
  wait_s: counts.waitMs / 1000,
});

const put = "INSERT INTO stock (amount, id) VALUES (?, ?) ON DUPLICATE KEY UPDATE amount = VALUES(amount)";

module.exports = { acquire, addOne, put, query, release, sleep: "SELECT SLEEP(0.2)", state, stream, transaction };
