import t from 'tap';
import { anonymous } from '../../src/access/index.ts';
import { chargeForAnswer, currentCharge, systemClock } from '../../src/kernel/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
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

t.test(
  'work of every class is paid from one budget of the address, long answers among it; a person pays nothing',
  async (t) => {
    const clock = { now: () => 1_000_000 };
    for (const cost of ['objects', 'transfer', 'rows', 'search'] as const) {
      const { limits } = createAnonymousLimits(clock);
      const ask = (address: string, work: () => void, viewer: object = anonymous) =>
        Promise.resolve(
          limits[cost]!(
            { state: { identity: { viewer }, address }, res: { destroyed: false } } as unknown as Context,
            async () => work(),
          ),
        ).then(
          () => 200,
          ({ status }: { status: number }) => status,
        );
      t.equal(await ask('192.0.2.1', () => currentCharge()!(29_999)), 200, cost);
      t.equal(await ask('192.0.2.1', () => chargeForAnswer(49_999)), 200, 'a millisecond is left');
      t.equal(await ask('192.0.2.1', () => chargeForAnswer(50_000)), 200, 'and less of it');
      t.equal(await ask('192.0.2.1', () => {}), 429, 'nothing is left');
      t.equal(await ask('192.0.2.2', () => {}), 200, 'the network beside it pays for itself');
      const person = { kind: 'person', id: 'x' };
      t.equal(await ask('192.0.2.1', () => t.equal(currentCharge(), null), person), 200);
    }
  },
);

t.test('a spent budget comes back by half a second for each second, and no further than full', async (t) => {
  const clock = fixedClock();
  const { limits } = createAnonymousLimits(clock);
  const spend = (ms: number): Promise<string> =>
    Promise.resolve(
      limits.objects!(
        { state: { identity: { viewer: anonymous }, address: '192.0.2.1' }, res: { destroyed: false } } as never,
        async () => currentCharge()!(ms),
      ),
    ).then(
      () => 'served',
      ({ headers }: { headers: Record<string, string> }) => `in ${headers['Retry-After']} s`,
    );
  t.equal(await spend(31_000), 'served');
  t.equal(await spend(0), 'in 3 s', 'a second of work is owed: two seconds, and a little');
  clock.advance(2_000);
  t.equal(await spend(0), 'in 1 s', 'nothing is left yet');
  clock.advance(2);
  t.equal(await spend(1), 'served');
  clock.advance(3_600_000);
  t.equal(await spend(30_000), 'served', 'full again');
  t.equal(await spend(0), 'in 1 s', 'and no fuller');
  clock.advance(10_000);
  t.equal(await spend(0), 'served');
  clock.advance(-3_600_000);
  t.equal(await spend(5_000), 'served', 'a clock that is set back takes nothing');
  t.equal(await spend(0), 'in 1 s', 'and gives nothing');
});
