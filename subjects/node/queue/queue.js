// Adds one to each of n numbers, in a loop or with n promises, and prints their sum.
"use strict";

const MOST_NUMBERS = 10_000_000;
const MOST_WORKERS = 1024;
// In Node.js, one Promise.all handles about two million promises, and never completes with more.
const GROUP = 1_000_000;

function fail(why) {
  console.error(`queue: ${why}\nusage: queue.js [--workers=W] sync|async N`);
  process.exit(2);
}

function wholeNumber(text, least, most) {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < least || number > most) {
    fail(`"${text}": must be a whole number from ${least} to ${most}`);
  }
  return number;
}

// The arrays are allocated at full length.
async function serial(mode, n) {
  const numbers = new Array(n);
  for (let i = 0; i < n; i++) numbers[i] = i;
  if (mode === "async") {
    const groups = [];
    for (let from = 0; from < n; from += GROUP) {
      const tasks = new Array(Math.min(GROUP, n - from));
      for (let i = 0; i < tasks.length; i++) tasks[i] = task(numbers, from + i);
      groups.push(Promise.all(tasks));
    }
    await Promise.all(groups);
  } else {
    for (let i = 0; i < n; i++) {
      let value = numbers[i];
      value++;
      numbers[i] = value;
    }
  }
  // Numbers are exact up to 2^53, and the sum of ten million numbers is 5e13.
  let sum = 0;
  for (let i = 0; i < n; i++) sum += numbers[i];
  return sum;
}

async function task(numbers, i) {
  let value = numbers[i];
  value++;
  numbers[i] = value;
}

async function main() {
  const given = process.argv.slice(2);
  const workers = given[0]?.startsWith("--workers=") ? wholeNumber(given.shift().slice(10), 1, MOST_WORKERS) : 0;
  if (given.length !== 2) fail(`${given.length} arguments; there are two, sync or async and a number`);
  const [mode, count] = given;
  if (mode !== "sync" && mode !== "async") fail(`"${mode}": must be sync or async`);
  const n = wholeNumber(count, 0, MOST_NUMBERS);

  // Worker threads are not even loaded unless they are used.
  const work = workers > 0 ? require("./parallel.js").parallel(mode, n, workers) : serial(mode, n);
  console.log(String(await work));
}

main();
