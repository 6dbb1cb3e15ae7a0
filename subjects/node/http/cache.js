// Rows that this process keeps. Several processes would not hear of each other's changes, so they keep none.
"use strict";

const MOST = 512;
const keeps = process.env.PROCESSES === "1";
const kept = new Map();

// The promise of a row is kept before the row is read. So a change always finds it and takes it out, however long the reading takes.
function cached(id, read) {
  if (!keeps) return read(id);
  const known = kept.get(id);
  if (known !== undefined) return known;
  if (kept.size >= MOST) kept.delete(kept.keys().next().value);
  const row = read(id);
  kept.set(id, row);
  row.catch(() => kept.delete(id));
  return row;
}

// Whether a change that failed was made is not known, so it takes the row out as well.
async function change(id, write) {
  try {
    await write();
  } finally {
    kept.delete(id);
  }
}

module.exports = { cached, change };
