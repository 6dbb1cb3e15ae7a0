// The workloads with a database. Every JavaScript framework has this file.
import { Buffer } from "node:buffer";
import { drawn, whole } from "./items.js";

const { put, query, transaction } = await import(
  process.env.DATABASE_ENGINE === "postgres" ? "./postgres.js" : "./mysql.js"
);

const tables = { 40: "rows40_text", 50: "rows50_text" };

// Keys derived from a seed.
const keys = (parameters, most) => drawn(parameters, most)?.map((x) => 1 + (x % 10_000));

// Each takes the parameters of a request. It returns undefined if they are invalid; so do the functions below.
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
  "/queries": async (parameters) => {
    const ids = keys(parameters, 500);
    if (!ids) return;
    const found = [];
    for (const id of ids) found.push((await query("SELECT * FROM rows40_text WHERE id = ?", id))[0]);
    return found;
  },
};

// The rows of a page, sorted by code units, which for these texts is the order of code points.
export async function fortunes({ add = "" }) {
  const bytes = Buffer.byteLength(add);
  if (bytes < 1 || bytes > 200) return;
  const rows = [...(await query("SELECT id, message FROM fortune")), { id: 0, message: add }];
  return rows.sort((a, b) => (a.message < b.message ? -1 : 1));
}

// Adds 1 to amounts. The keys ascend: locking rows in the same order prevents deadlocks.
export async function update(parameters) {
  const ids = keys(parameters, 100);
  if (!ids) return;
  const sorted = [...new Set(ids)].sort((a, b) => a - b);
  return transaction(async (ask) => {
    const changed = [];
    for (const id of sorted) {
      const [row] = await ask("SELECT amount FROM stock WHERE id = ? FOR UPDATE", id);
      const amount = row.amount + 1;
      await ask("UPDATE stock SET amount = ? WHERE id = ?", amount, id);
      changed.push({ amount, id });
    }
    return changed;
  });
}

const LARGEST_ID = 1_000_000_000;
const MOST_KEPT = 512;
const kept = new Map();

// A row or null, from the cache if possible. It caches the promise before the row is read, so that a change always invalidates it.
export async function readRow({ id }) {
  const key = whole(id, LARGEST_ID);
  if (!key) return;
  if (!kept.has(key)) {
    if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value);
    const row = query("SELECT amount, id FROM stock WHERE id = ?", key).then(([found = null]) => found);
    kept.set(key, row);
    row.catch(() => kept.delete(key));
  }
  return kept.get(key);
}

// Creates a row or changes it.
export async function writeRow({ id }, sent) {
  const key = whole(id, LARGEST_ID);
  const amount = sent?.amount;
  if (!key || !Number.isInteger(amount) || amount < 0 || amount > 999_999_999) return;
  await change(key, put, amount, key);
  return { amount, id: key };
}

export async function deleteRow({ id }) {
  const key = whole(id, LARGEST_ID);
  if (!key) return;
  await change(key, "DELETE FROM stock WHERE id = ?", key);
  return true;
}

// A failed change may still have been made, so it also invalidates the row.
async function change(key, sql, ...values) {
  try {
    await query(sql, ...values);
  } finally {
    kept.delete(key);
  }
}
