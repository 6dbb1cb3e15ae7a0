// This process's connection pool with Bun.SQL. It connects at the first query.
const { DATABASE_HOST, DATABASE_PORT, DATABASE_NAME, DATABASE_USER, DATABASE_PASSWORD, DATABASE_POOL } = process.env;

const isPostgres = process.env.DATABASE_ENGINE === "postgres";
const size = Number(DATABASE_POOL);

let sql = open(size);

function open(connections) {
  return new Bun.SQL({
    adapter: isPostgres ? "postgres" : "mysql",
    hostname: DATABASE_HOST,
    port: Number(DATABASE_PORT),
    database: DATABASE_NAME,
    username: DATABASE_USER,
    password: DATABASE_PASSWORD,
    max: connections,
    connectionTimeout: 2,
    // Needed for MySQL's own login without TLS; MariaDB never requests it.
    allowPublicKeyRetrieval: true,
  });
}

let unanswered = 0;
let lastAnswer = 0;

async function answer(query) {
  if (unanswered++ === 0) lastAnswer = performance.now();
  try {
    return await query;
  } finally {
    unanswered--;
    lastAnswer = performance.now();
  }
}

// Bun.SQL waits forever for a silent database, and does not report whether a long answer makes progress. So if no answer was
// completed for a while, this opens a trial connection. If that fails, it replaces the pool and fails all waiting queries.
async function endSilence() {
  const began = lastAnswer;
  if (unanswered === 0 || performance.now() - began < 2_500) return setTimeout(endSilence, 500);
  const trial = open(1);
  try {
    await trial.connect();
  } catch (error) {
    // An error from the server itself, such as too many connections, is an answer. So is an answer to another query meanwhile.
    if (error.errno === undefined && lastAnswer === began) {
      const silent = sql;
      sql = open(size);
      silent.close({ timeout: 0 });
    }
  }
  trial.close();
  lastAnswer = performance.now();
  setTimeout(endSilence, 500);
}

endSilence();

export const rows = (fields, limit) =>
  fields === "40"
    ? answer(sql`SELECT * FROM rows40_text ORDER BY id LIMIT ${limit}`)
    : answer(sql`SELECT * FROM rows50_text ORDER BY id LIMIT ${limit}`);

export const one = async (id) => (await answer(sql`SELECT * FROM rows40_text WHERE id = ${id}`))[0];

export const fortunes = () => answer(sql`SELECT id, message FROM fortune`);

export const fidelity = () => answer(sql`SELECT * FROM fidelity ORDER BY id`);

// Adds 1 to the amount of each row, in one transaction.
export const addToAll = (keys) =>
  answer(
    sql.begin(async (transaction) => {
      const changed = [];
      for (const id of keys) {
        const [row] = await transaction`SELECT amount FROM stock WHERE id = ${id} FOR UPDATE`;
        const amount = row.amount + 1;
        await transaction`UPDATE stock SET amount = ${amount} WHERE id = ${id}`;
        changed.push({ amount, id });
      }
      return changed;
    }),
  );

export const stored = async (id) => (await answer(sql`SELECT amount, id FROM stock WHERE id = ${id}`))[0];

export const put = (amount, id) =>
  isPostgres
    ? answer(sql`INSERT INTO stock (amount, id) VALUES (${amount}, ${id})
        ON CONFLICT (id) DO UPDATE SET amount = excluded.amount`)
    : answer(sql`INSERT INTO stock (amount, id) VALUES (${amount}, ${id})
        ON DUPLICATE KEY UPDATE amount = VALUES(amount)`);

export const remove = (id) => answer(sql`DELETE FROM stock WHERE id = ${id}`);

// The answer contains the new number.
export async function addOne() {
  if (isPostgres) {
    const [row] = await answer(sql`UPDATE counter SET value = value + 1 WHERE id = 1 RETURNING value`);
    return Number(row.value);
  }
  const result = await answer(sql`UPDATE counter SET value = LAST_INSERT_ID(value + 1) WHERE id = 1`);
  return result.lastInsertRowid;
}

export const counted = async () => Number((await answer(sql`SELECT value FROM counter WHERE id = 1`))[0].value);

// Calls `use` with a function that sleeps in the database, on one connection or on the pool.
export async function sleeping(from, use) {
  const sleep = (place) => answer(isPostgres ? place`SELECT pg_sleep(0.2)` : place`SELECT SLEEP(0.2)`);
  if (from === "pool") return use(() => sleep(sql));
  const connection = await sql.reserve();
  try {
    return await use(() => sleep(connection));
  } finally {
    connection.release();
  }
}

// Bun.SQL does not report the state of its pool.
export const state = () => ({ size, in_use: null, waiting: null, waits: null, wait_s: null });
