import t from 'tap';
import { anonymous } from '../../src/access/index.ts';
import { systemClock } from '../../src/kernel/index.ts';
import { createAnonymousLimits } from '../../src/http/admission/anonymous-limits.ts';
import type { Context } from '../../src/http/index.ts';

const tick = () => new Promise(setImmediate);

t.test('what one address asks for beyond its part is refused to it, and others are served at once', async (t) => {
  const places = { limit: 3, ofAddress: 2, queue: 10, queueOfAddress: 4, waitMs: 60_000 };
  const { limits } = createAnonymousLimits(systemClock, { git: places, rows: places, search: places });
  for (const cost of ['objects', 'rows', 'search'] as const) {
    const open = new Set<() => void>();
    const request = (address: string) => {
      const ctx = { state: { identity: { viewer: anonymous }, address }, res: { destroyed: false } };
      const work = () => new Promise<void>((resolve) => open.add(resolve));
      return (limits[cost]!(ctx as unknown as Context, work) as Promise<void>).then(
        () => 'served',
        ({ reason }: { reason: string }) => reason,
      );
    };
    const many = Array.from({ length: 20 }, () => request('192.0.2.1'));
    await tick();
    t.equal(open.size, 2, `${cost}: it has two of the three places`);
    const other = request('192.0.2.2');
    await tick();
    t.equal(open.size, 3, 'the other address has the third');
    const results = Promise.all([...many, other]);
    for (let round = 0; round < 10; round += 1) {
      for (const end of open) end();
      open.clear();
      await tick();
    }
    const counts = Object.groupBy(await results, (result) => result);
    t.strictSame([counts['served']?.length, counts['busy']?.length], [7, 14], 'two, four that waited, and the other');
    t.equal(await other, 'served');
  }
});
