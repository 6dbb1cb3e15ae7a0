// A cache of rows in this process. With several processes it is off, because they would not see each other's changes.
const MOST = 512;
const keeps = process.env.PROCESSES === "1";
const kept = new Map();

// Caches the promise of a row before the row is read. So a change always invalidates it, however long the read takes.
export function cached(id, read) {
  if (!keeps) return read(id);
  const known = kept.get(id);
  if (known !== undefined) return known;
  if (kept.size >= MOST) kept.delete(kept.keys().next().value);
  const row = read(id);
  kept.set(id, row);
  row.catch(() => kept.delete(id));
  return row;
}

// A failed change may still have been made, so it also invalidates the row.
export async function change(id, write) {
  try {
    await write();
  } finally {
    kept.delete(id);
  }
}
