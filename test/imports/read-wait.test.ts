// Until when a limit of another forge holds, by the headers that these send: none is waited for beyond two hours.
import t from 'tap';
import { readWait } from '../../src/imports/client/read-wait.ts';

const now = Date.UTC(2026, 0, 1);
const [second, hour] = [1_000, 3_600_000];
const at = (ms: number): string => String(Math.floor((now + ms) / second));

t.test('how long is waited', async (t) => {
  const table: [status: number, headers: Record<string, string>, body: string, ms: number | null][] = [
    [200, { 'retry-after': '5' }, '', null],
    [404, { 'retry-after': '5' }, '', null],
    [403, {}, 'no rights', null],
    [403, { 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': at(hour) }, '', null],
    [503, {}, '', null],
    [503, { 'retry-after': '30' }, '', 30 * second],
    [429, {}, '', 60 * second],
    [429, { 'retry-after': '0' }, '', second],
    [429, { 'retry-after': '7200' }, '', 2 * hour],
    [429, { 'retry-after': '7201' }, '', 2 * hour],
    [429, { 'retry-after': '999999999' }, '', 2 * hour],
    [429, { 'retry-after': new Date(now + 90 * second).toUTCString() }, '', 90 * second],
    [429, { 'retry-after': new Date(now - hour).toUTCString() }, '', second],
    [429, { 'retry-after': new Date(now + 48 * hour).toUTCString() }, '', 2 * hour],
    [429, { 'retry-after': 'later' }, '', 60 * second],
    [429, { 'ratelimit-reset': '20' }, '', 20 * second],
    [429, { 'ratelimit-reset': at(20 * second) }, '', 20 * second],
    [429, { 'retry-after': '5', 'ratelimit-reset': '20' }, '', 5 * second],
    [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': at(hour) }, '', hour],
    [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': at(72 * hour) }, '', 2 * hour],
    [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': at(-hour) }, '', second],
    [403, {}, 'You have exceeded a secondary rate limit.', 60 * second],
  ];
  for (const [status, headers, body, ms] of table) {
    const until = readWait({ status, headers, body: Buffer.from(body) }, now);
    t.equal(until === null ? null : until - now, ms, `${status} ${JSON.stringify(headers)} ${body}`);
  }
});
