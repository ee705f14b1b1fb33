import t from 'tap';
import { nextDigest } from '../../src/notifications/mail/digest-times.ts';

const at = (text: string): number => Date.parse(`${text}Z`);

t.test('digests are due at six in the morning, weekly ones on Monday', async (t) => {
  // 2026-03-01 is a Sunday.
  const cases: [now: string, daily: string, weekly: string][] = [
    ['2026-03-01T05:59:59.999', '2026-03-01T06:00', '2026-03-02T06:00'],
    ['2026-03-01T06:00', '2026-03-02T06:00', '2026-03-02T06:00'],
    ['2026-03-02T05:59:59.999', '2026-03-02T06:00', '2026-03-02T06:00'],
    ['2026-03-02T06:00', '2026-03-03T06:00', '2026-03-09T06:00'],
    ['2026-03-08T23:59', '2026-03-09T06:00', '2026-03-09T06:00'],
    ['2028-02-29T12:00', '2028-03-01T06:00', '2028-03-06T06:00'],
  ];
  for (const [now, daily, weekly] of cases) {
    t.equal(nextDigest(at(now), 'daily'), at(daily), `daily, at ${now}`);
    t.equal(nextDigest(at(now), 'weekly'), at(weekly), `weekly, at ${now}`);
  }
});
