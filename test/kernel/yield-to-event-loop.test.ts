// Long steps of several requests share the iterations of the event loop.
import t from 'tap';
import { mapAll, yieldToEventLoop, visitAll } from '../../src/kernel/index.ts';

/** Longer than a turn may be. */
const longMs = 10;

function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** Counts the turns of the event loop while it runs, from one that is not shared yet. */
async function countTurns(): Promise<{ now(): number; stop(): void }> {
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  let turns = 0;
  let isOver = false;
  const next = (): void => {
    turns += 1;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  return { now: () => turns, stop: () => void (isOver = true) };
}

t.test('long steps run one in each turn, in the order in which they were asked for', async (t) => {
  const turns = await countTurns();
  const steps: [name: string, turn: number][] = [];
  const request = async (name: string): Promise<void> => {
    for (let step = 0; step < 3; step += 1) {
      const wait = yieldToEventLoop();
      if (wait !== undefined) await wait;
      work(longMs);
      steps.push([name, turns.now()]);
    }
  };
  await Promise.all(['a', 'b', 'c'].map(request));
  turns.stop();
  t.strictSame(
    steps.map(([name]) => name),
    ['a', 'a', 'b', 'c', 'a', 'b', 'c', 'b', 'c'],
  );
  t.equal(new Set(steps.map(([, turn]) => turn)).size, steps.length, 'no two of them in one turn');
});

t.test('short steps begin at once', async (t) => {
  let waited = 0;
  // A machine that is busy with other work may take longer between two calls than a slice lasts.
  for (let turn = 0; turn < 20; turn += 1) {
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    if (yieldToEventLoop() !== undefined || yieldToEventLoop() !== undefined) waited += 1;
  }
  t.ok(waited < 10, `${waited} of 20`);
});

t.test('a list is visited in order, with a pause whenever the turn has become long', async (t) => {
  const turns = await countTurns();
  const seen: number[] = [];
  const turnOf: number[] = [];
  const items = Array.from({ length: 64 * 4 }, (_, index) => index);
  await Promise.all([
    visitAll(items, (item, index) => {
      if (index % 64 === 0) work(longMs);
      seen.push(item);
      turnOf.push(turns.now());
    }),
    visitAll(items, (_item, index) => {
      if (index % 64 === 0) work(longMs);
    }),
  ]);
  turns.stop();
  t.strictSame(seen, items);
  t.equal(new Set(turnOf).size, 4, 'each part in a turn of its own');
  t.strictSame(
    await mapAll(items, (item, index) => item + index),
    items.map((item) => 2 * item),
  );
  t.strictSame(await mapAll([], String), []);
  await t.rejects(
    visitAll(items, () => {
      throw new Error('refused');
    }),
    { message: 'refused' },
  );
});
