// The pool of connections of this process: mysql2, connected at the first request that asks.
"use strict";

const { DATABASE_HOST, DATABASE_PORT, DATABASE_NAME, DATABASE_USER, DATABASE_PASSWORD, DATABASE_POOL } = process.env;
const { MYSQL2, PROTOCOL } = process.env;

const prepared = PROTOCOL === "prepared";
const send = prepared ? "execute" : "query";
// `execute` sends numbers as doubles, which MySQL refuses for a LIMIT; a text is refused there by `query`.
const typed = (values) => (prepared ? values.map(String) : values);
const size = Number(DATABASE_POOL);
let pool;

// What mysql2's events and calls tell; `waiting` holds the refusals of those who wait for a connection.
const counts = { inUse: 0, waits: 0, waitMs: 0 };
const waiting = new Set();
let enqueued = false;

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
  pool.on("enqueue", () => {
    enqueued = true;
  });
  // A connection that breaks while nobody uses it must not end the process; the pool removes it by itself.
  pool.on("connection", (connection) => connection.on("error", () => {}));
}

// A connection for one task, which gives it back with `release` or `destroy`.
function acquire() {
  if (pool === undefined) open();
  const started = performance.now();
  enqueued = false;
  const connected = pool.getConnection();
  // mysql2 says so during the call or not at all.
  const waited = enqueued;
  if (waited) counts.waits++;
  return new Promise((resolve, reject) => {
    const place = { reject, waited };
    waiting.add(place);
    const leave = () => {
      if (waited) counts.waitMs += performance.now() - started;
      return waiting.delete(place);
    };
    connected.then(
      (connection) => {
        if (!leave()) return connection.release();
        counts.inUse++;
        resolve(connection);
      },
      (error) => {
        if (leave()) reject(error);
        // Without a word of the server's, nobody can reach it: a queue would last until the clients give up.
        if (error.sqlState === undefined) giveUp(error);
      },
    );
  });
}

function giveUp(error) {
  for (const place of waiting) place.reject(error);
  waiting.clear();
}

function release(connection) {
  counts.inUse--;
  connection.release();
}

// The rows of one SELECT, or the result of another statement.
async function query(sql, values = []) {
  const connection = await acquire();
  try {
    const [rows] = await connection[send](sql, typed(values));
    return rows;
  } finally {
    release(connection);
  }
}

// The rows one by one. If nobody wants the rest, the driver reads it and throws it away, and the connection is clean.
async function stream(sql, values = []) {
  const connection = await acquire();
  // Without the wrapper of promises, as only that has streams.
  const command = connection.connection[send](sql, typed(values));
  const rows = command.stream();
  let open = true;
  const done = () => {
    if (open) release(connection);
    open = false;
    connection.connection.off("error", broken);
  };
  // A stream does not hear by itself that its connection breaks.
  const broken = (error) => {
    rows.destroy(error);
    done();
  };
  connection.connection.on("error", broken);
  command.once("end", done);
  // Whoever has left the stream does not hear of errors in the rest.
  command.on("error", () => {});
  return rows;
}

const state = () => ({
  size,
  in_use: counts.inUse,
  waiting: [...waiting].filter((place) => place.waited).length,
  waits: counts.waits,
  wait_s: counts.waitMs / 1000,
});

module.exports = { acquire, query, release, state, stream };
