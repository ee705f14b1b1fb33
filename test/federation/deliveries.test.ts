import t from 'tap';
import { insertRow } from '../fixtures/test-database.ts';
import { localAdministrator } from '../../src/access/index.ts';
import { nextDeliveryState } from '../../src/federation/deliveries/delivery-state.ts';
import { backoffMs } from '../../src/outbox/index.ts';
import type { Outcome } from '../../src/federation/deliveries/delivery-state.ts';
import { startFakePeer } from './fake-peer.ts';
import type { FakePeer } from './fake-peer.ts';
import { addDeliveries, addRepository, deliveryRows, openFederation } from './federation-fixture.ts';
import type { FederationTestOptions, FederationFixture } from './federation-fixture.ts';
import { freePort } from '../fixtures/free-port.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const minute = 60_000;

t.test('SPEC §3 the state after an attempt', async (t) => {
  const now = 1_000_000;
  const row = (attempts: number) => ({ attempts, nextAttemptAt: 5 });
  const failed = (more: object = {}): Outcome => ({ kind: 'failed', error: 'it broke', ...more });
  t.same(
    [1, 2, 3, 4, 5, 6, 7, 8, 100].map(backoffMs),
    [1, 2, 4, 8, 16, 32, 60, 60, 60].map((minutes) => minutes * minute),
    '1m, 2m, 4m, doubling, at most an hour',
  );
  t.same(nextDeliveryState(row(0), { kind: 'delivered' }, now, 8), {
    state: 'DELIVERED',
    attempts: 1,
    lastError: null,
    nextAttemptAt: 5,
    settledAt: now,
  });
  t.same(nextDeliveryState(row(3), { kind: 'delivered' }, now, 8), {
    state: 'DELIVERED',
    attempts: 4,
    lastError: null,
    nextAttemptAt: 5,
    settledAt: now,
  });
  for (let attempts = 0; attempts < 7; attempts++) {
    t.same(nextDeliveryState(row(attempts), failed(), now, 8), {
      state: 'PENDING',
      attempts: attempts + 1,
      lastError: 'it broke',
      nextAttemptAt: now + backoffMs(attempts + 1),
      settledAt: null,
    });
  }
  t.same(nextDeliveryState(row(7), failed(), now, 8), {
    state: 'FAILED',
    attempts: 8,
    lastError: 'it broke',
    nextAttemptAt: 5,
    settledAt: now,
  });
  t.match(nextDeliveryState(row(0), failed(), now, 1), { state: 'FAILED', attempts: 1 });
  t.match(nextDeliveryState(row(20), failed(), now, 8), { state: 'FAILED' }, 'the maximum was lowered');
  t.match(
    nextDeliveryState(row(0), failed({ retryAfterMs: 10 * minute }), now, 8),
    { nextAttemptAt: now + 10 * minute },
    'asked to wait',
  );
  t.match(
    nextDeliveryState(row(0), failed({ retryAfterMs: 5 }), now, 8),
    { nextAttemptAt: now + minute },
    'not sooner',
  );
  t.match(
    nextDeliveryState(row(0), failed({ retryAfterMs: 1e15 }), now, 8),
    { nextAttemptAt: now + 60 * minute },
    'and not for ever',
  );
  t.same(nextDeliveryState(row(2), { kind: 'forbidden', error: 'no' }, now, 8), {
    state: 'FAILED',
    attempts: 2,
    lastError: 'no',
    nextAttemptAt: 5,
    settledAt: now,
  });
});

interface Stage extends FederationFixture {
  repository: { id: string; apPath: string };
  peer: FakePeer;
  queue(inboxes: readonly string[]): Promise<string>;
  inbox(name: string): string;
}

async function setStage(t: Owner, options: FederationTestOptions = {}): Promise<Stage> {
  const stage = await openFederation(t, options);
  const repository = await addRepository(stage);
  const peer = await startFakePeer(t);
  return {
    ...stage,
    repository,
    peer,
    queue: (inboxes) => addDeliveries(stage, repository, inboxes),
    inbox: (name) => `${peer.origin}/inbox/${name}`,
  };
}

const sum = (rows: { attempts: number }[]): number => rows.reduce((total, { attempts }) => total + attempts, 0);

t.test('SPEC §3 an attempt that succeeds, and one that fails until it counts as failed', async (t) => {
  const stage = await setStage(t);
  const { federation, clock, peer, queue, inbox } = stage;
  let status = 500;
  peer.respond('/inbox/bad', (_request, response) => void response.writeHead(status).end('secret <b>words</b>'));
  await queue([inbox('good'), inbox('bad')]);
  t.match(await federation.drain(), { delivered: 1, failed: 1 });
  t.match(await deliveryRows(stage), [
    { state: 'DELIVERED', attempts: 1, last_error: null },
    { state: 'PENDING', attempts: 1, last_error: `${peer.host} answered 500`, next_attempt_at: clock.now() + minute },
  ]);
  const sent = peer.received.find(({ path }) => path === '/inbox/good')!;
  t.match(sent.headers, {
    'content-type': 'application/activity+json',
    digest: /^SHA-256=/,
    signature: /keyId="http:\/\/127\.0\.0\.1:9\/ap\/repos\/alice\/tool#main-key"/,
    host: peer.host,
  });

  const waits: number[] = [];
  for (let attempt = 2; attempt <= 8; attempt++) {
    const due = (await deliveryRows(stage))[1]!.next_attempt_at;
    waits.push((due - clock.now()) / minute);
    clock.set(due - 1);
    t.match(await federation.drain(), { failed: 0 }, 'not before its time');
    clock.set(due);
    await federation.drain();
    t.equal((await deliveryRows(stage))[1]!.attempts, attempt);
  }
  t.same(waits, [1, 2, 4, 8, 16, 32, 60]);
  t.match((await deliveryRows(stage))[1], { state: 'FAILED', attempts: 8, last_error: `${peer.host} answered 500` });

  status = 202;
  clock.advance(30 * 86_400_000);
  await federation.drain();
  t.match((await deliveryRows(stage))[1], { state: 'FAILED', attempts: 8 }, 'never retried again');
});

t.test('SPEC §1 SERVICE_FEDERATION_MAX_ATTEMPTS decides when a delivery has failed', async (t) => {
  const stage = await setStage(t, { env: { SERVICE_FEDERATION_MAX_ATTEMPTS: '2' } });
  stage.peer.respond('/inbox/bad', (_request, response) => void response.writeHead(404).end());
  await stage.queue([stage.inbox('bad')]);
  await stage.federation.drain();
  stage.clock.advance(minute);
  await stage.federation.drain();
  t.match(await deliveryRows(stage), [
    { state: 'FAILED', attempts: 2, last_error: `${stage.peer.host} answered 404 (there is no such inbox)` },
  ]);
});

t.test('a server that asks to wait is waited for; a redirect leads nowhere', async (t) => {
  const stage = await setStage(t);
  const { peer, clock } = stage;
  peer.respond('/inbox/busy', (_request, response) => void response.writeHead(429, { 'Retry-After': '600' }).end());
  peer.respond(
    '/inbox/date',
    (_request, response) =>
      void response.writeHead(503, { 'Retry-After': new Date(clock.now() + 20 * minute).toUTCString() }).end(),
  );
  peer.respond(
    '/inbox/moved',
    (_request, response) => void response.writeHead(307, { Location: `${peer.origin}/inbox/here` }).end(),
  );
  await stage.queue(['busy', 'date', 'moved'].map(stage.inbox));
  await stage.federation.drain();
  const [busy, date, moved] = await deliveryRows(stage);
  t.equal(busy!.next_attempt_at, clock.now() + 10 * minute);
  t.ok(Math.abs(date!.next_attempt_at - clock.now() - 20 * minute) < 2000);
  t.match(moved, { state: 'PENDING', last_error: `${peer.host} answered 307` });
  t.notOk(peer.received.some(({ path }) => path === '/inbox/here'));
});

t.test(
  'SPEC §7 a delivery to http outside of development mode fails with those words and is tried again',
  async (t) => {
    const stage = await setStage(t, {
      dev: false,
      origin: 'https://git.example.org',
      allow: ['127.0.0.3', 'forge.example'],
    });
    await stage.queue([
      stage.inbox('x'),
      'http://forge.example/inbox',
      'https://other.example/inbox',
      'https://127.0.0.3/inbox',
    ]);
    await stage.federation.drain();
    t.match(await deliveryRows(stage), [
      {
        state: 'PENDING',
        attempts: 1,
        last_error: 'Only https is allowed',
        next_attempt_at: stage.clock.now() + minute,
      },
      { state: 'PENDING', attempts: 1, last_error: 'Only https is allowed' },
      { state: 'PENDING', attempts: 1, last_error: /not on this server's peer list/ },
      { state: 'PENDING', attempts: 1, last_error: /not a public address/ },
    ]);
    t.equal(stage.peer.connections(), 0);
  },
);

t.test('an activity whose repository is private at sending time is never sent', async (t) => {
  const stage = await setStage(t);
  const { modules, federation, peer, repository } = stage;
  await stage.queue([stage.inbox('a')]);
  await modules.repositories.changeVisibility(localAdministrator, 'alice', 'tool', 'PRIVATE');
  await federation.drain();
  t.match(await deliveryRows(stage), [{ state: 'FAILED', attempts: 0, last_error: /no longer public/ }]);
  t.equal(peer.connections(), 0);
  await modules.repositories.changeVisibility(localAdministrator, 'alice', 'tool', 'PUBLIC');
  await stage.queue([stage.inbox('b')]);
  await modules.repositories.trash.move(localAdministrator, 'alice', 'tool');
  await federation.drain();
  t.match(
    (await deliveryRows(stage))[1],
    { state: 'FAILED', last_error: /no longer public/ },
    'nor what is in the trash',
  );
  t.equal(peer.connections(), 0);
  void repository;
});

t.test(
  'other deliveries to an unreachable host wait without counting attempts, and are sent when it is back',
  async (t) => {
    const port = await freePort('127.0.0.3');
    const dead = `127.0.0.3:${port}`;
    const stage = await setStage(t);
    const { federation, clock, queue } = stage;
    await queue(Array.from({ length: 40 }, (_, index) => `http://${dead}/inbox/${index}`));
    await federation.drain();
    let rows = await deliveryRows(stage);
    t.equal(sum(rows), 1, 'one attempt told enough');
    t.equal(rows.filter(({ next_attempt_at }) => next_attempt_at === clock.now() + minute).length, 40);
    t.match(rows[0], {
      attempts: 1,
      state: 'PENDING',
      last_error: `${dead} did not respond: it refused the connection.`,
    });
    t.strictSame(new Set(rows.map(({ locked_until }) => locked_until)), new Set([0]));

    await queue([`http://${dead}/inbox/new`]);
    await federation.drain();
    t.equal((await deliveryRows(stage)).at(-1)!.attempts, 1, 'a row of its own is tried once');
    for (let round = 0; round < 8; round++) {
      clock.advance(60 * minute);
      await federation.drain();
    }
    rows = await deliveryRows(stage);
    t.ok(sum(rows) <= 12, `${sum(rows)} attempts in eight rounds`);
    t.ok(Math.max(...rows.map(({ attempts }) => attempts)) <= 8);

    const back = await startFakePeer(t, { port });
    clock.advance(60 * minute);
    await federation.drain();
    rows = await deliveryRows(stage);
    t.equal(
      rows.filter(({ state }) => state === 'DELIVERED').length,
      rows.length - rows.filter(({ state }) => state === 'FAILED').length,
    );
    t.equal(back.received.length, rows.filter(({ state }) => state === 'DELIVERED').length, 'each once');
  },
);

t.test(
  'pushes to followers of a host that is down wait for it from the start; a word from it wakes them',
  async (t) => {
    const port = await freePort('127.0.0.3');
    const stage = await setStage(t);
    const { modules, clock, repository } = stage;
    const host = `127.0.0.3:${port}`;
    await modules.db.write(async ({ manager, now }) => {
      await manager.query(`INSERT INTO federation_peers (host, failures, retry_at) VALUES (?, 3, ?)`, [
        host,
        now + 8 * minute,
      ]);
      for (const name of ['a', 'b']) {
        const at = name === 'a' ? host : stage.peer.host;
        await manager.query(
          `INSERT INTO repository_followers (repository_id, actor_id, inbox, host, follow_id, created_at) VALUES (?, ?, ?, ?, 'f', ?)`,
          [repository.id, `http://${at}/users/${name}`, `http://${at}/inbox`, at, now],
        );
      }
    });
    const { publish } = await import('../../src/federation/deliveries/publish.ts');
    const deps = {
      random: { uuid: () => '00000000-0000-4000-8000-ffffffffffff' },
      localActors: { idOf: (path: string) => path },
      settings: { openFollowers: false, allowlist: [] },
    } as never;
    await modules.db.write((tx) =>
      publish(
        deps,
        tx,
        { type: 'Push', actorPath: repository.apPath, repositoryId: repository.id, content: {} },
        { followersOf: repository.id, reads: 'push' },
      ),
    );
    const waits = async () =>
      Object.fromEntries((await deliveryRows(stage)).map((row) => [row.host, row.next_attempt_at - clock.now()]));
    t.same(await waits(), { [host]: 8 * minute, [stage.peer.host]: 0 });

    const { createReachabilityRecorder } = await import('../../src/federation/peers/mark-peer-reachable.ts');
    await createReachabilityRecorder({ db: modules.db, clock })(host);
    t.same(await waits(), { [host]: 0, [stage.peer.host]: 0 });
  },
);

t.test('hanging hosts do not delay deliveries to other hosts', async (t) => {
  const stage = await setStage(t, { outbound: { limits: { totalMs: 1_500 } }, settings: { slots: 16 } });
  const hanging = await Promise.all(Array.from({ length: 6 }, () => startFakePeer(t)));
  for (const peer of hanging) peer.respond('/inbox', () => {});
  const living = await Promise.all(Array.from({ length: 4 }, () => startFakePeer(t)));
  await stage.queue([
    ...hanging.flatMap((peer) => Array.from({ length: 20 }, () => `${peer.origin}/inbox`)),
    ...living.flatMap((peer) => Array.from({ length: 50 }, (_, index) => `${peer.origin}/inbox/${index}`)),
  ]);
  const draining = stage.federation.drain();
  await waitUntil(() => living.every((peer) => peer.received.length === 50), 'the living are served', {
    withinMs: 1_400,
  });
  await draining;
  const rows = await deliveryRows(stage);
  t.equal(rows.filter(({ state }) => state === 'DELIVERED').length, 200);
  t.equal(sum(rows.filter(({ state }) => state === 'PENDING')), 6, 'one attempt for each hanging host');
});

t.test('claims are safe when two programs drain at once', async (t) => {
  const stage = await setStage(t);
  const other = await openFederation(t, { folder: stage.folder, clock: stage.clock });
  await stage.queue(Array.from({ length: 300 }, (_, index) => stage.inbox(String(index))));
  await Promise.all([stage.federation.drain(), other.federation.drain(), stage.federation.drain()]);
  t.equal(stage.peer.received.length, 300);
  t.equal(new Set(stage.peer.received.map(({ path }) => path)).size, 300, 'each exactly once');
  t.strictSame(
    new Set((await deliveryRows(stage)).map(({ state, attempts }) => `${state} ${attempts}`)),
    new Set(['DELIVERED 1']),
  );
});

t.test('a failure whose lease was lost is not recorded', async (t) => {
  const stage = await setStage(t);
  const { modules, federation, peer } = stage;
  await stage.queue([stage.inbox('a')]);
  const { write } = modules.db;
  let claimed = 0;
  peer.respond('/inbox/a', async (_request, response) => {
    await write(({ manager, now }) =>
      manager.query('UPDATE federation_delivery SET locked_until = ?', [(claimed = now + 7 * minute)]),
    );
    response.writeHead(503).end();
  });
  await federation.drain();
  t.ok(claimed > 0);
  t.match(await deliveryRows(stage), [{ state: 'PENDING', attempts: 0, last_error: null }]);
});

t.test('a claim of a program that died runs out, or is dropped at the next start', async (t) => {
  const stage = await setStage(t);
  const { modules, federation, clock } = stage;
  await stage.queue([stage.inbox('a')]);
  const lock = () =>
    modules.db.write(({ manager, now }) =>
      manager.query(`UPDATE federation_delivery SET locked_until = ?, state = 'PENDING', attempts = 0`, [now + minute]),
    );
  await lock();
  t.match(await federation.drain(), { delivered: 0 });
  clock.advance(minute + 1);
  t.match(await federation.drain(), { delivered: 1 });
  await lock();
  // Beside another node, whose time is told by the clock of the database.
  Object.assign(modules.db, { node: 'here' });
  const seen = { host: 'h', version: '1', run: 'r', started_at: 1, seen_at: 1, until: Date.now() + 600_000 };
  await modules.db.write((tx) => insertRow(tx, 'nodes', { id: 'other', ...seen }));
  await federation.recover();
  t.match(await federation.drain(), { delivered: 0 }, 'the claim may be that of the other node');
  await modules.db.write(({ manager }) => manager.query('UPDATE nodes SET until = 0'));
  await federation.recover();
  t.match(await federation.drain(), { delivered: 1 });
});

t.test('at start no delivery waits longer than an hour, whatever the clock said before', async (t) => {
  const stage = await setStage(t);
  await stage.queue([stage.inbox('a'), stage.inbox('b')]);
  await stage.modules.db.write(({ manager, now }) =>
    manager.query('UPDATE federation_delivery SET next_attempt_at = ? WHERE id = 1', [now + 1e10]),
  );
  await stage.federation.recover();
  t.same(
    (await deliveryRows(stage)).map((row) => row.next_attempt_at - stage.clock.now()),
    [60 * minute, 0],
  );
});

t.test('stopping aborts what is running, uncounted, and gives back what was claimed', async (t) => {
  const stage = await setStage(t);
  stage.peer.respond('/inbox', () => {});
  await stage.queue(Array.from({ length: 30 }, () => `${stage.peer.origin}/inbox`));
  const draining = stage.federation.drain();
  await waitUntil(() => stage.peer.received.length > 0, 'an attempt is running');
  await stage.federation.stop();
  await draining;
  const rows = await deliveryRows(stage);
  t.strictSame(
    new Set(rows.map(({ state, attempts, locked_until }) => `${state} ${attempts} ${locked_until}`)),
    new Set(['PENDING 0 0']),
  );
  t.match(await stage.federation.drain(), { delivered: 0 }, 'and nothing starts any more');
});

t.test('no more than 4 at a time to one host, and no more than the slots in all', async (t) => {
  const stage = await setStage(t, { settings: { slots: 10 } });
  const peers = await Promise.all(Array.from({ length: 5 }, () => startFakePeer(t)));
  let open = 0;
  let most = 0;
  const mostAt = peers.map(() => 0);
  for (const [index, peer] of peers.entries()) {
    let here = 0;
    peer.respond('/inbox', (_request, response) => {
      mostAt[index] = Math.max(mostAt[index]!, (here += 1));
      most = Math.max(most, (open += 1));
      setTimeout(() => {
        here -= 1;
        open -= 1;
        response.writeHead(202).end();
      }, 5);
    });
  }
  await stage.queue(peers.flatMap((peer) => Array.from({ length: 20 }, () => `${peer.origin}/inbox`)));
  t.match(await stage.federation.drain(), { delivered: 100 });
  t.ok(most <= 10 && most > 4, `${most} at once`);
  t.ok(Math.max(...mostAt) <= 4, `${mostAt.join(' ')} per host`);
});

t.test('a retry by hand is a new delivery; the FAILED row stays', async (t) => {
  const stage = await setStage(t, { env: { SERVICE_FEDERATION_MAX_ATTEMPTS: '1' } });
  const { federation, peer, clock } = stage;
  let status = 500;
  peer.respond('/inbox/bad', (_request, response) => void response.writeHead(status).end());
  await stage.queue([stage.inbox('bad'), stage.inbox('good')]);
  await federation.drain();
  const [bad, good] = await federation.listDeliveries().then((rows) => rows.reverse());
  t.match([bad, good], [{ state: 'FAILED', type: 'Push', activityId: /activities/ }, { state: 'DELIVERED' }]);
  await t.rejects(federation.retryDelivery(good!.id), /Only a FAILED delivery/);
  await t.rejects(federation.retryDelivery(12345), /no such delivery/);
  const again = await federation.retryDelivery(bad!.id);
  t.match(await federation.showDelivery(again), {
    state: 'PENDING',
    attempts: 0,
    targetInbox: stage.inbox('bad'),
    activity: /Push/,
  });
  await federation.drain();
  t.match(
    (await federation.listDeliveries({ state: 'FAILED' })).map(({ id }) => id),
    [again, bad!.id],
  );

  status = 202;
  t.equal(await federation.retryFailedDeliveries(null), 1, 'the last failure of each, once');
  t.equal(await federation.retryFailedDeliveries(null), 0);
  t.match(await federation.countDeliveries(), { pending: 1, failed: 2, oldestPendingMs: 0 });
  t.match(await federation.drain(), { delivered: 1 });
  t.match(
    (await federation.listPeers()).find(({ host }) => host === peer.host),
    { lastSuccessAt: clock.now(), lastError: `${peer.host} answered 500`, queued: 0, failed: 2, failures: 0 },
  );
  t.equal(await federation.purgeDeliveries(clock.now() + 1), 4);
  t.same(await deliveryRows(stage), []);
});

t.test('housekeeping removes what is old, and nothing that is pending or public', async (t) => {
  const stage = await setStage(t);
  const { modules, federation, clock } = stage;
  await stage.queue([stage.inbox('a')]);
  await federation.drain();
  clock.advance(20 * 86_400_000);
  await stage.queue([stage.inbox('b')]);
  await modules.db.write(async ({ manager, now }) => {
    await manager.query(`INSERT INTO federation_inbox VALUES ('s', 'old', 'Follow', ?), ('s', 'new', 'Follow', ?)`, [
      now - 31 * 86_400_000,
      now,
    ]);
    await manager.query(
      `INSERT INTO federation_outbox (id, actor_path, type, is_public, activity, created_at)
       VALUES ('00000000-0000-4000-8000-00000000aaaa', '/ap/users/alice', 'Follow', 0, '{}', ?)`,
      [now - 31 * 86_400_000],
    );
  });
  clock.advance(11 * 86_400_000);
  await federation.removeOld();
  t.match(
    (await deliveryRows(stage)).map(({ state }) => state),
    ['PENDING'],
  );
  t.match(await modules.db.read.query('SELECT activity_id FROM federation_inbox'), [{ activity_id: 'new' }]);
  t.match(await modules.db.read.query('SELECT type FROM federation_outbox ORDER BY created_at'), [
    { type: 'Push' },
    { type: 'Push' },
  ]);
});
