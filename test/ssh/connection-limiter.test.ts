import t from 'tap';
import { createConnectionLimiter } from '../../src/ssh/connection-limiter.ts';
import type { ConnectionSlot } from '../../src/ssh/connection-limiter.ts';

const limits = { arriving: 4, perAddress: 2, perAccount: 100, waiting: 3, silentMs: 500, quietMs: 3_000 };

/** A limiter with connections that record what happened to them. */
function open(t: { teardown(done: () => void): void }, over: Partial<typeof limits> = {}) {
  // Not zero: only differences of time may matter.
  let time = 1e6;
  const limiter = createConnectionLimiter({ limits: { ...limits, ...over }, now: () => time });
  t.teardown(() => limiter.close());
  const happened: string[] = [];
  const places = new Map<string, ConnectionSlot>();
  return {
    happened,
    place: (name: string) => places.get(name) as ConnectionSlot,
    arrive(name: string, address: string) {
      places.set(
        name,
        limiter.arrive({
          address,
          begin: () => happened.push(`${name} begins`),
          reject: (reason) => happened.push(`${name} ${reason}`),
        }),
      );
    },
    pass: (ms: number) => (time += ms),
  };
}

t.test('new connections are served at once while slots are free', async (t) => {
  const { arrive, happened } = open(t);
  arrive('a', '1');
  arrive('b', '2');
  t.same(happened, ['a begins', 'b begins']);
});

t.test('one address has a few slots; its other connections wait, and those of others pass them', async (t) => {
  const { arrive, happened, place } = open(t);
  for (const name of ['a', 'b', 'c']) arrive(name, '1');
  arrive('d', '2');
  t.same(happened, ['a begins', 'b begins', 'd begins']);
  place('a').signedIn('somebody');
  t.notOk(happened.includes('c begins'), 'a signed-in connection still counts for its address');
  place('a').leave();
  t.ok(happened.includes('c begins'));
});

t.test('signing in frees a slot for the next anonymous connection', async (t) => {
  const { arrive, happened, place } = open(t, { perAddress: 10 });
  for (const name of ['a', 'b', 'c', 'd', 'e']) arrive(name, name);
  t.notOk(happened.includes('e begins'));
  place('b').signedIn('somebody');
  t.ok(happened.includes('e begins'));
});

t.test('a silent connection is displaced when there is a queue, and not before', async (t) => {
  const { arrive, happened, place, pass } = open(t);
  for (const [name, address] of [
    ['a', '1'],
    ['b', '1'],
    ['c', '2'],
    ['d', '2'],
  ] as const)
    arrive(name, address);
  place('b').bytesReceived();
  pass(600);
  t.equal(happened.length, 4);
  arrive('e', '3');
  t.same(happened.slice(4), ['a place_needed', 'e begins']);
});

t.test('a client that is signing in, or waits for a passphrase, keeps its slot', async (t) => {
  const { arrive, happened, place, pass } = open(t);
  for (const [name, address] of [
    ['a', '1'],
    ['b', '2'],
    ['c', '3'],
    ['d', '4'],
  ] as const) {
    arrive(name, address);
    place(name).bytesReceived();
  }
  pass(2_900);
  arrive('e', '5');
  t.notOk(happened.includes('e begins'));
  pass(100);
  arrive('f', '6');
  t.same(happened.slice(4), ['a place_needed', 'e begins', 'b place_needed', 'f begins']);
});

t.test(
  'of an address with many slots a quiet connection is displaced sooner, but never for its own address',
  async (t) => {
    const { arrive, happened, place, pass } = open(t, { arriving: 3, perAddress: 3 });
    for (const [name, address] of [
      ['a', '1'],
      ['b', '1'],
      ['c', '2'],
    ] as const) {
      arrive(name, address);
      place(name).bytesReceived();
    }
    pass(1_600);
    arrive('d', '1');
    t.equal(happened.length, 3);
    arrive('e', '3');
    t.same(happened.slice(3), ['a place_needed', 'e begins']);
  },
);

t.test('of an address at its limit, an idle signed-in connection is displaced, a busy one never', async (t) => {
  const { arrive, happened, place, pass } = open(t);
  arrive('a', '1');
  arrive('b', '1');
  for (const name of ['a', 'b']) {
    place(name).bytesReceived();
    place(name).signedIn('somebody');
    place(name).setBusy(true);
  }
  pass(60_000);
  arrive('c', '1');
  t.notOk(happened.includes('c begins'));
  place('b').setBusy(false);
  pass(3_000);
  arrive('d', '1');
  t.same(happened.slice(2), ['b place_needed', 'c begins']);
});

t.test('of an account at its limit, from any addresses, the longest idle connection is closed', async (t) => {
  const { arrive, happened, place, pass } = open(t, { perAccount: 3 });
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    arrive(name, name);
    t.ok(place(name).signedIn(name === 'e' ? 'bob' : 'alice'));
    if (name === 'a') place(name).setBusy(true);
    pass(10);
  }
  t.same(
    happened.filter((line) => !line.endsWith('begins')),
    ['b account_full'],
  );
  for (const name of ['c', 'd']) place(name).setBusy(true);
  arrive('f', 'f');
  t.notOk(place('f').signedIn('alice'), 'while all are at work, the newest goes');
  t.equal(happened.at(-1), 'f account_full');
  place('c').leave();
  arrive('g', 'g');
  t.ok(place('g').signedIn('alice'));
});

t.test('when the queue is full, the last connection of the address that fills it most is refused', async (t) => {
  const { arrive, happened } = open(t, { arriving: 1 });
  arrive('a', '1');
  for (const name of ['b', 'c', 'd']) arrive(name, '1');
  arrive('e', '2');
  t.same(happened, ['a begins', 'd line_full']);
});

t.test('security F08: a flood of silent sockets does not keep a client out', async (t) => {
  const { arrive, happened, place, pass } = open(t, { arriving: 20, perAddress: 10, waiting: 64 });
  for (let round = 0; round < 200; round += 1) {
    arrive(`flood ${round}`, `flood ${round % 8}`);
    pass(10);
  }
  arrive('client', 'client');
  for (let waited = 0; waited < 1_000 && !happened.includes('client begins'); waited += 10) {
    pass(10);
    arrive(`flood ${waited}`, `flood ${waited % 8}`);
  }
  t.ok(happened.includes('client begins'));
  place('client').bytesReceived();
  pass(400);
  t.notOk(happened.includes('client place_needed'));
});
