// Background priority: one step of a search runs per turn of the event loop, and none while another page is being
// rendered.
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import type { Exchange } from '../../src/http/context.ts';
import { createBackgroundPriority } from '../../src/http/background-priority.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

function open(limits = {}) {
  const priority = createBackgroundPriority(limits);
  const taken: string[] = [];
  /** A step of background work. */
  const step = (name: string): void => void priority.turn().then(() => taken.push(name));
  /** Some other request. */
  const begin = () => {
    const res = new EventEmitter();
    const state = {} as Exchange['state'];
    priority.onRequest({ res: res as unknown as ServerResponse, state });
    return { end: () => res.emit('close'), yieldToPages: () => priority.yield(state), state };
  };
  return { hasRecentRequests: priority.hasRecentRequests, step, begin, taken: () => taken.splice(0).join(' ') };
}

t.test('one step is taken in each turn of the loop, in order', async (t) => {
  const { step, taken } = open();
  for (const name of ['a', 'b', 'c']) step(name);
  await Promise.resolve();
  t.equal(taken(), 'a', 'the first at once');
  await nextTurn();
  t.equal(taken(), 'b');
  step('d');
  await nextTurn();
  t.equal(taken(), 'c', 'nobody comes before those who wait');
  await nextTurn();
  t.equal(taken(), 'd');
  await nextTurn();
  step('e');
  await Promise.resolve();
  t.equal(taken(), 'e');
});

t.test('no step is taken while a page is being made', async (t) => {
  const { step, begin, taken } = open({ quickMs: 60_000, maxWaitMs: 60_000 });
  const [page, other] = [begin(), begin()];
  step('a');
  step('b');
  other.end();
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  t.equal(taken(), '');
  page.end();
  await nextTurn();
  t.equal(taken(), 'a', 'its end sets them going');
  await nextTurn();
  t.equal(taken(), 'b');
});

t.test('a step that has waited long enough is taken, however many pages are being made', async (t) => {
  const { step, begin, taken } = open({ quickMs: 60_000, maxWaitMs: 5 });
  begin();
  step('a');
  let isTaken = false;
  for (const from = performance.now(); !isTaken && performance.now() - from < 10_000; await sleep(1))
    isTaken = taken() === 'a';
  t.ok(isTaken);
});

t.test('background work waits neither for a request that is background work itself nor for a slow one', async (t) => {
  const { step, begin, taken } = open({ quickMs: 5, maxWaitMs: 60_000 });
  begin().yieldToPages();
  step('a');
  await Promise.resolve();
  t.equal(taken(), 'a');
  begin();
  await sleep(10);
  step('b');
  await Promise.resolve();
  t.equal(taken(), 'b');
});

t.test('a page counts as a recent request for a moment, background work never does', async (t) => {
  const { begin, hasRecentRequests } = open();
  t.notOk(hasRecentRequests());
  const search = begin();
  search.yieldToPages();
  search.end();
  t.notOk(hasRecentRequests());
  begin().end();
  t.ok(hasRecentRequests());
  await waitUntil(() => !hasRecentRequests());
});

t.test('requests are forgotten, also where no client ever searches', async (t) => {
  const { begin } = open();
  const [first, last] = [new WeakRef(begin().state.activeRequest!), new WeakRef(begin().state.activeRequest!)];
  begin();
  await sleep(30);
  begin();
  // What a collection has left would be held by the list.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 10 && (first.deref() ?? last.deref()) !== undefined; turn += 1) {
    await nextTurn();
    collect();
  }
  t.same([first.deref(), last.deref()], [undefined, undefined]);
});
