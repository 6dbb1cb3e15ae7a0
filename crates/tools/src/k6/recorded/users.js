import http from 'k6/http';
import { check } from 'k6';

export const options = { thresholds: { checks: ['rate>0.99'] }, vus: 3, duration: '1h' };

export function setup() {
  return { paths: ['/hello', '/503'] };
}

export default function (data) {
  for (const path of data.paths) {
    const answer = http.get(`${__ENV.TOLOK_BASE}${path}`);
    check(answer, { answered: (answer) => answer.status > 0 });
  }
}

export function teardown(data) {
  console.log(`asked for ${data.paths}`);
}
