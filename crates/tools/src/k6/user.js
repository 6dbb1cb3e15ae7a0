// Written by tolok around __SCRIPT__: when its default function is called, and what is kept of it.
// By hand once more: k6 run -e TOLOK_URL=… -e TOLOK_BASE=… __SELF__
import { randomSeed, sleep } from 'k6';
import { Gauge } from 'k6/metrics';
import * as user from './__SCRIPT__';

const job = __JOB__;

if (typeof user.default !== 'function') {
  throw new Error('__SCRIPT__ exports no default function, which is what a virtual user does');
}

// The script's own options hold, but when its function is called is the study's affair.
const kept = Object.assign({}, user.options);
for (const name of ['scenarios', 'vus', 'duration', 'iterations', 'stages', 'executionSegment']) {
  delete kept[name];
}
const thresholds = Object.assign({}, kept.thresholds);
for (const metric of Object.keys(job.options.thresholds)) {
  thresholds[metric] = [].concat(thresholds[metric] || [], job.options.thresholds[metric]);
}
export const options = Object.assign(kept, job.options, { thresholds: thresholds });

// With one seed for all, all users would draw alike.
randomSeed(job.seed + __VU);

const began = new Gauge('tolok_began_ms');
const ended = new Gauge('tolok_ended_ms');

function pause() {
  if (job.think) {
    sleep(job.think.least_s + Math.random() * (job.think.most_s - job.think.least_s));
  }
}

export async function setup() {
  const data = user.setup ? await user.setup() : undefined;
  began.add(Date.now());
  console.log(job.begins);
  return data;
}

export default function (data) {
  const done = user.default(data);
  if (done && done.then) {
    return done.then(pause);
  }
  pause();
}

export async function teardown(data) {
  ended.add(Date.now());
  if (user.teardown) {
    await user.teardown(data);
  }
}

export function handleSummary(data) {
  return { stdout: JSON.stringify({ state: data.state, metrics: data.metrics }) };
}
