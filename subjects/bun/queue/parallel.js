// The work in `workers` threads that run at once, over one array that all of them can reach.
import { Worker } from "node:worker_threads";

export async function parallel(mode, n, workers) {
  // The largest number is ten million, which 32 bits hold.
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
    const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: part });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}
