// What the workloads with a database ask. Every framework in JavaScript has this file.
import mysql from "mysql2/promise";

const { DATABASE_HOST, DATABASE_PORT, DATABASE_NAME, DATABASE_USER, DATABASE_PASSWORD, DATABASE_POOL } = process.env;

// Connects when the first query asks.
const pool = mysql.createPool({
  host: DATABASE_HOST,
  port: Number(DATABASE_PORT),
  database: DATABASE_NAME,
  user: DATABASE_USER,
  password: DATABASE_PASSWORD,
  connectionLimit: Number(DATABASE_POOL),
  connectTimeout: 2_000,
  dateStrings: true,
});

async function query(sql, value) {
  const [rows] = await pool.query(sql, [value]);
  return rows;
}

// A whole number from 1 to `largest`, or NaN.
function whole(text, largest) {
  return /^\d+$/.test(text) && text >= 1 && text <= largest ? Number(text) : NaN;
}

const tables = { 40: "rows40_text", 50: "rows50_text" };

// Each takes the parameters of a request. It returns nothing if they make no sense.
export const asks = {
  "/rows": async ({ fields, limit }) => {
    const count = whole(limit, 10_000);
    if (!Object.hasOwn(tables, fields) || !count) return;
    return query(`SELECT * FROM ${tables[fields]} ORDER BY id LIMIT ?`, count);
  },
  "/query": async ({ id }) => {
    const key = whole(id, 10_000);
    if (key) return (await query("SELECT * FROM rows40_text WHERE id = ?", key))[0];
  },
  "/queries": async ({ n, seed }) => {
    const count = whole(n, 500);
    let x = whole(seed, 2_147_483_646);
    if (!count || !x) return;
    const found = [];
    for (let i = 0; i < count; i++) {
      x = (x * 16_807) % 2_147_483_647;
      found.push((await query("SELECT * FROM rows40_text WHERE id = ?", 1 + (x % 10_000)))[0]);
    }
    return found;
  },
};
