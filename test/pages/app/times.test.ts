import t from 'tap';
import { viewCount, viewSize } from '../../../src/pages/app/format-numbers.ts';
import { viewTime, viewZonedTime } from '../../../src/pages/app/times.view.ts';

t.test('the time of a commit is told on the clock of its author, with the zone', async (t) => {
  const at = Date.UTC(2026, 10, 28, 13, 6);
  for (const [offsetMinutes, title] of [
    [0, '28 Nov 2026, 13:06 UTC'],
    [540, '28 Nov 2026, 22:06 +09:00'],
    [-210, '28 Nov 2026, 09:36 -03:30'],
    [840, '29 Nov 2026, 03:06 +14:00'],
    [1, '28 Nov 2026, 13:07 +00:01'],
  ] as const)
    t.same(viewZonedTime({ at, offsetMinutes }, at), { ...viewTime(at, at), title });
  for (const hostile of [Infinity, -Infinity, NaN, 9e15, -9e15, 8.64e15, -8.64e15])
    for (const offsetMinutes of [-840, 840]) t.ok(viewZonedTime({ at: hostile, offsetMinutes }, at).title);
});

t.test('times, sizes and counts read like sentences', async (t) => {
  const now = Date.UTC(2026, 10, 20, 12);
  const ago = (seconds: number) => viewTime(now - seconds * 1000, now).text;
  t.equal(ago(0), 'just now');
  t.equal(ago(119), '1 minute ago');
  t.equal(ago(3 * 3600), '3 hours ago');
  t.equal(ago(86_400), 'yesterday');
  t.equal(ago(-92 * 86_400), 'in 3 months');
  t.equal(ago(-7 * 86_400), 'in 7 days');
  t.same(viewTime(now, now), { iso: '2026-11-20T12:00:00.000Z', title: '20 Nov 2026, 12:00 UTC', text: 'just now' });
  for (const hostile of [Infinity, -Infinity, NaN, 9e15, -9e15])
    t.ok(viewTime(hostile, now).iso, 'no date of a commit breaks a page');
  t.same([0, 999, 1000, 1450, 9_950, 20_000_000, 999_600].map(viewSize), [
    '0 B',
    '999 B',
    '1.0 kB',
    '1.5 kB',
    '10 kB',
    '20 MB',
    '1.0 MB',
  ]);
  t.same([viewCount(1, 'tag'), viewCount(1204, 'tag'), viewCount(2, 'branch')], ['1 tag', '1,204 tags', '2 branches']);
});
