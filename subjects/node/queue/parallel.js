// Runs the work in `workers` parallel threads, over one shared array.
"use strict";

const path = require("node:path");
const { Worker } = require("node:worker_threads");

async function parallel(mode, n, workers) {
  // The largest number is ten million, which fits into 32 bits.
  const numbers = new Int32Array(new SharedArrayBuffer(n * Int32Array.BYTES_PER_ELEMENT));
  const parts = Array.from({ length: workers }, (_, worker) => ({
    mode,
    numbers,
    from: Math.floor((n * worker) / workers),
    to: Math.floor((n * (worker + 1)) / workers),
  }));
  const sums = await Promise.all(parts.map(inWorker));
  return sums.reduce((total, sum) => total + sum, 0);
}

function inWorker(part) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(path.join(__dirname, "worker.js"), { workerData: part });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

module.exports = { parallel };
