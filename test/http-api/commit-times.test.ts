// Times of commits are as the clock of their person showed them, as in Gitea.
import t from 'tap';
import { zonedTime } from '../../src/gitea-shapes/index.ts';
import { commitUser } from '../../src/http-api/v1/shapes/commits-schemas.ts';

const at = Date.UTC(2026, 10, 28, 13, 6, 0, 999);

t.test('the offset is that of the commit, and the moment stays', async (t) => {
  for (const [ms, offset, date] of [
    [at, 0, '2026-11-28T13:06:00Z'],
    [at, 540, '2026-11-28T22:06:00+09:00'],
    [at, -210, '2026-11-28T09:36:00-03:30'],
    [at, 840, '2026-11-29T03:06:00+14:00'],
    [at, 1, '2026-11-28T13:07:00+00:01'],
    [0, -60, '1969-12-31T23:00:00-01:00'],
  ] as const) {
    t.equal(zonedTime(ms, offset), date);
    t.equal(Date.parse(date), Math.floor(ms / 1000) * 1000, date);
    t.ok(commitUser.safeParse({ name: 'alice', email: 'alice@example.org', date }).success, date);
  }
});

t.test('at the ends of what a year can say, the time is that of UTC', async (t) => {
  for (const [ms, offset] of [
    [Date.UTC(9999, 11, 31, 23, 59, 59), 840],
    [-62_135_596_800_000, -840],
  ] as const) {
    const shown = zonedTime(ms, offset);
    t.equal(Date.parse(shown), Math.floor(ms / 1000) * 1000, shown);
    t.match(shown, /^\d{4}-/, 'four digits');
  }
});
