// Written by tolok: what k6 does for one trial. By hand once more: k6 run k6.js
import http from 'k6/http';
import { randomSeed, sleep } from 'k6';
import { Counter, Gauge, Rate } from 'k6/metrics';

const job = __JOB__;

export const options = job.options;

// Another status is a failed request in k6's own metrics as well.
http.setResponseCallback(http.expectedStatuses(job.status));
// With one seed for all, all users would pause alike.
randomSeed(job.seed + __VU);

const { url, status, body_bytes: length } = job;
const params = { redirects: 0, timeout: job.timeout_ms, responseType: 'none' };
const failures = new Counter('tolok_failures');
const failedRate = job.has_rate ? new Rate('tolok_failed') : null;
const failuresOf = {};
for (const name of job.classes) {
  failuresOf[name] = new Counter(`tolok_failed_${name}`);
}
const began = new Gauge('tolok_began_ms');
const ended = new Gauge('tolok_ended_ms');

// The first of these words in an error of k6 gives its class.
const classOfWords = [
  ['too many open files', 'local'],
  ['cannot assign requested address', 'local'],
  ['request timeout', 'timeout'],
  ['dial: i/o timeout', 'connect_timeout'],
  ['connection refused', 'connect'],
  ['no route to host', 'connect'],
  ['unreachable', 'connect'],
  ['lookup ', 'connect'],
  ['x509', 'tls'],
  ['tls: ', 'tls'],
  ['connection reset', 'reset'],
  ['broken pipe', 'reset'],
  ['malformed', 'malformed'],
  ['EOF', 'closed'],
  ['server closed', 'closed'],
];

function classOf(words) {
  const known = classOfWords.find((entry) => words.includes(entry[0]));
  return known ? known[1] : 'other';
}

// Length of an answer's body. k6 reads it to the end in any case, and an answer that ends before its Content-Length is an
// error, so the header tells. Where there is none, bodies are kept from the next answer on, which costs much more.
function lengthOf(answer) {
  const declared = answer.headers['Content-Length'];
  if (declared !== undefined) {
    return Number(declared);
  }
  if (params.responseType === 'none') {
    params.responseType = 'binary';
    return length;
  }
  return answer.body ? answer.body.byteLength : 0;
}

// One request: nothing if its answer is good, or its class of failure and the reason in words.
function ask() {
  let answer;
  try {
    answer = http.get(url, params);
  } catch (error) {
    return [classOf(error.message), error.message];
  }
  if (answer.status !== status) {
    return ['bad_status', `status ${answer.status} is not the expected one`];
  }
  if (length !== null && lengthOf(answer) !== length) {
    return ['bad_body', `the body has ${lengthOf(answer)} bytes instead of ${length}`];
  }
  return null;
}

// The first failure of each class is told once by each user.
const told = {};

function count(failure) {
  const [name, words] = failure;
  failures.add(1);
  failuresOf[name].add(1);
  if (!told[name]) {
    told[name] = true;
    console.warn(`tolok: failed as ${name}: ${words}`);
  }
}

function pause() {
  if (job.think) {
    sleep(job.think.least_s + Math.random() * (job.think.most_s - job.think.least_s));
  }
}

export function setup() {
  began.add(Date.now());
  console.log(job.begins);
}

export function warmUp() {
  ask();
  pause();
}

export default function () {
  const failure = ask();
  if (failedRate) {
    failedRate.add(failure !== null);
  }
  if (failure) {
    count(failure);
  }
  pause();
}

export function teardown() {
  ended.add(Date.now());
}

export function handleSummary(data) {
  return { stdout: JSON.stringify({ state: data.state, metrics: data.metrics }) };
}
