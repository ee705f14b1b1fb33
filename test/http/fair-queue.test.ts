// Fair queue: known clients never wait for anonymous ones, however many there are; refusals to anonymous clients are
// delayed.
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { anonymousIdentity } from '../../src/http/context.ts';
import type { Context, Identity } from '../../src/http/context.ts';
import { delayRefusals } from '../../src/http/admission/delay-refusals.ts';
import { createFairQueue } from '../../src/http/admission/fair-queue.ts';

const alice = {
  ...anonymousIdentity,
  viewer: {
    kind: 'person',
    id: '1',
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  },
} as Identity;

function openQueue(perTurn: number) {
  const queue = createFairQueue({ perTurn });
  const begun: string[] = [];
  const listen = queue.enqueue((request) => void begun.push(request.url!));
  /** @param proof headers that say who asks */
  const arrive = (url: string, proof: IncomingMessage['headers'] = {}) => {
    const [request, response] = [
      { url, headers: proof, destroyed: false },
      Object.assign(new EventEmitter(), { destroyed: false }),
    ];
    listen(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    return {
      leave: () => (response.destroyed = true),
      end(identity: Identity) {
        queue.onRequest({
          req: request as unknown as IncomingMessage,
          res: response as unknown as ServerResponse,
          state: { requestId: '', address: '', routePath: null, identity },
        });
        response.emit('close');
      },
    };
  };
  return { arrive, begun: () => begun.splice(0).join(' ') };
}

t.test('requests of anonymous clients begin a few per turn, in order', async (t) => {
  const { arrive, begun } = openQueue(2);
  const arrived = ['a', 'b', 'c', 'd', 'e'].map((name) => arrive(name));
  t.equal(begun(), 'a b');
  arrived[3]!.leave();
  arrive('f');
  await nextTurn();
  t.equal(begun(), 'c', 'and who has left is not missed');
  arrive('g');
  t.equal(begun(), '', 'nobody comes before those who wait');
  await nextTurn();
  t.equal(begun(), 'e f');
  await nextTurn();
  await nextTurn();
  arrive('h');
  t.equal(begun(), 'g h');
});

t.test('a known client waits neither for anonymous clients nor for other known ones', async (t) => {
  for (const proof of [
    { cookie: 'hearth_theme=dark; hearth_session=one' },
    { cookie: '__Host-hearth=one' },
    { authorization: 'Bearer hth_one' },
  ]) {
    const { arrive, begun } = openQueue(1);
    arrive('crowd');
    const first = arrive('first', proof);
    t.equal(begun(), 'crowd', 'credentials that nobody has looked at are worth nothing');
    await nextTurn();
    first.end(alice);
    for (const name of ['crowd', 'more', 'much']) arrive(name);
    arrive('second', proof);
    t.equal(begun(), 'first second', 'a known client does not wait for the anonymous ones');
    const third = arrive('third', proof);
    t.equal(begun(), '', 'nor may one person take all turns');
    await nextTurn();
    t.equal(begun(), 'crowd third');
    third.end(anonymousIdentity);
    for (let turn = 0; turn < 4; turn += 1) await nextTurn();
    begun();
    arrive('crowd');
    arrive('fourth', proof);
    t.equal(begun(), 'crowd', 'and a client that has signed out is anonymous again');
    await nextTurn();
  }
});

t.test('refusals to many anonymous clients are sent one after the other, others at once', async (t) => {
  const waits: number[] = [];
  const pace = delayRefusals({ burst: 2, intervalMs: 60_000, maxDelayMs: 100_000 }, async (ms) => void waits.push(ms));
  const respond = (status: number, identity: Identity = anonymousIdentity) =>
    pace({ status, state: { identity } } as Context, async () => {});
  for (const status of [200, 404, 422, 500]) for (let time = 0; time < 4; time += 1) await respond(status);
  for (let time = 0; time < 4; time += 1) await respond(503, alice);
  await respond(503);
  await respond(429);
  t.same(waits, []);
  for (let time = 0; time < 4; time += 1) await respond(429);
  t.ok(waits.length >= 3);
  t.ok(
    waits.every((ms, at) => ms <= 100_000 && (at === 0 || ms > 30_000)),
    'never longer than the longest',
  );
});
