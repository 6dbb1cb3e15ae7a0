// One thread: fills its part of the array, works on it, and reports its sum. No other thread touches that part.
"use strict";

const { parentPort, workerData } = require("node:worker_threads");

const { mode, numbers, from, to } = workerData;
// As in queue.js: one Promise.all of Node.js cannot handle more than about two million promises.
const GROUP = 1_000_000;

async function task(i) {
  let value = numbers[i];
  value++;
  numbers[i] = value;
}

async function main() {
  for (let i = from; i < to; i++) numbers[i] = i;
  if (mode === "async") {
    const groups = [];
    for (let first = from; first < to; first += GROUP) {
      const tasks = new Array(Math.min(GROUP, to - first));
      for (let i = 0; i < tasks.length; i++) tasks[i] = task(first + i);
      groups.push(Promise.all(tasks));
    }
    await Promise.all(groups);
  } else {
    for (let i = from; i < to; i++) {
      let value = numbers[i];
      value++;
      numbers[i] = value;
    }
  }
  let sum = 0;
  for (let i = from; i < to; i++) sum += numbers[i];
  parentPort.postMessage(sum);
}

main();
