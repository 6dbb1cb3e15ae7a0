// The connection pool for PostgreSQL. It connects at the first query. Every JavaScript framework has this file.
import pg from "pg";

const { DATABASE_HOST, DATABASE_PORT, DATABASE_NAME, DATABASE_USER, DATABASE_PASSWORD, DATABASE_POOL } = process.env;

// No `connectionTimeoutMillis`: in pg it also limits how long a request waits for a free connection.
const pool = new pg.Pool({
  host: DATABASE_HOST,
  port: Number(DATABASE_PORT),
  database: DATABASE_NAME,
  user: DATABASE_USER,
  password: DATABASE_PASSWORD,
  max: Number(DATABASE_POOL),
  idleTimeoutMillis: 0,
});
// An idle connection that breaks must not end the process; the pool removes it.
pool.on("error", () => {});

export const put =
  "INSERT INTO stock (amount, id) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET amount = excluded.amount";

// PostgreSQL numbers its parameters.
const numbered = (sql) => sql.split("?").reduce((text, rest, index) => `${text}$${index}${rest}`);

export async function query(sql, ...values) {
  const { rows } = await pool.query(numbered(sql), values);
  return rows;
}

// Calls `work` with a function that runs queries in one transaction, and commits.
export async function transaction(work) {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const result = await work(async (sql, ...values) => (await client.query(numbered(sql), values)).rows);
    await client.query("COMMIT");
    client.release();
    return result;
  } catch (error) {
    // Discards the connection, so the transaction cannot reach the next request.
    client.release(true);
    throw error;
  }
}
