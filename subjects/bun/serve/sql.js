// The pool of connections of this process by Bun.SQL; it connects at the first request that asks.
const { DATABASE_HOST, DATABASE_PORT, DATABASE_NAME, DATABASE_USER, DATABASE_PASSWORD, DATABASE_POOL } = process.env;

const size = Number(DATABASE_POOL);

const sql = new Bun.SQL({
  adapter: "mysql",
  hostname: DATABASE_HOST,
  port: Number(DATABASE_PORT),
  database: DATABASE_NAME,
  username: DATABASE_USER,
  password: DATABASE_PASSWORD,
  max: size,
  connectionTimeout: 2,
});

export const rows = (fields, limit) =>
  fields === "40"
    ? sql`SELECT * FROM rows40_text ORDER BY id LIMIT ${limit}`
    : sql`SELECT * FROM rows50_text ORDER BY id LIMIT ${limit}`;

export const one = async (id) => (await sql`SELECT * FROM rows40_text WHERE id = ${id}`)[0];

export const fidelity = () => sql`SELECT * FROM fidelity ORDER BY id`;

// LAST_INSERT_ID brings the new number back in the same answer.
export async function addOne() {
  const result = await sql`UPDATE counter SET value = LAST_INSERT_ID(value + 1) WHERE id = 1`;
  return result.lastInsertRowid;
}

export const counted = async () => Number((await sql`SELECT value FROM counter WHERE id = 1`)[0].value);

// Calls `use` with a function that sleeps in the database, on one connection or on the pool's.
export async function sleeping(from, use) {
  if (from === "pool") return use(() => sql`SELECT SLEEP(0.2)`);
  const connection = await sql.reserve();
  try {
    return await use(() => connection`SELECT SLEEP(0.2)`);
  } finally {
    connection.release();
  }
}

// Bun.SQL tells nothing of its pool.
export const state = () => ({ size, in_use: null, waiting: null, waits: null, wait_s: null });
