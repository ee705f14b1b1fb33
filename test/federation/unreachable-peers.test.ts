// A server that is gone for good: what is queued for it, who sees it, and how it comes back.
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { readInstanceStatistics, createDoctor, listQueuedItems } from '../../src/doctor/index.ts';
import { publish } from '../../src/federation/deliveries/publish.ts';
import { silentLogger, systemRandom } from '../../src/kernel/index.ts';
import { freePort } from '../fixtures/free-port.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { startFakePeer } from './fake-peer.ts';
import { addRepository, deliveryRows, openFederation } from './federation-fixture.ts';
import type { FederationTestOptions, FederationFixture } from './federation-fixture.ts';

const hour = 3_600_000;
const day = 24 * hour;

interface Stage extends FederationFixture {
  repository: { id: string; apPath: string };
  /** Host and port without a listener. */
  dead: string;
  port: number;
  push(): Promise<void>;
  count(state: string): Promise<number>;
  findings(): Promise<{ check: string; words: string; remedy?: string | null }[]>;
}

async function setStage(t: Owner, options: FederationTestOptions = {}): Promise<Stage> {
  const stage = await openFederation(t, { allow: ['127.0.0.3', '127.0.0.4'], ...options });
  const { modules, clock } = stage;
  const repository = await addRepository(stage);
  const port = await freePort('127.0.0.3');
  const dead = `127.0.0.3:${port}`;
  const addFollower = (host: string) =>
    modules.db.write(({ manager, now }) =>
      manager.query(
        `INSERT INTO repository_followers (repository_id, actor_id, inbox, host, follow_id, created_at) VALUES (?, ?, ?, ?, 'f', ?)`,
        [repository.id, `http://${host}/users/carol`, `http://${host}/inbox`, host, now],
      ),
    );
  await addFollower(dead);
  const deps = {
    random: systemRandom,
    localActors: { idOf: (path: string) => stage.origin + path },
    settings: { openFollowers: false, allowlist: ['127.0.0.3', '127.0.0.4'] },
  } as never;
  const activity = { type: 'Push', actorPath: repository.apPath, repositoryId: repository.id, content: {} } as const;
  const doctor = createDoctor({
    ...modules,
    clock,
    settingsFile: null,
    userId: null,
    backupState: async () => ({ kind: 'none' }) as never,
    auditBreak: async () => null,
  });
  return {
    ...stage,
    repository,
    dead,
    port,
    push: async () =>
      void (await modules.db.write((tx) => publish(deps, tx, activity, { followersOf: repository.id, reads: 'push' }))),
    count: async (state) => (await deliveryRows(stage)).filter((row) => row.state === state).length,
    async findings() {
      for await (const { findings } of doctor.examine('queues')) return findings as never;
      return [];
    },
  };
}

/** One push an hour, with a drain after it. */
async function hourlyPushes({ push, federation, clock }: Stage, hours: number): Promise<void> {
  for (let turn = 0; turn < hours; turn += 1) {
    await push();
    await federation.drain();
    clock.advance(hour);
  }
}

t.test('after seven days without a response deliveries to a server end, and none are queued for it', async (t) => {
  const warned: unknown[] = [];
  const logger = { ...silentLogger, warn: (event: string, fields?: object) => void warned.push({ event, ...fields }) };
  const stage = await setStage(t, { logger });
  const { federation, clock, dead, count, findings } = stage;
  const begun = clock.now();
  await hourlyPushes(stage, 24);
  t.ok((await count('PENDING')) >= 18, 'a day: all but what was tried eight times waits, uncounted');
  t.match(
    (await federation.listPeers()).find(({ host }) => host === dead),
    { goneAt: null, silentSince: begun },
  );
  await hourlyPushes(stage, 6 * 24);
  t.ok((await count('PENDING')) > 0, 'not before the seventh day has passed');
  await hourlyPushes(stage, 7 * 24);
  const rows = await deliveryRows(stage);
  t.equal(rows.filter(({ state }) => state !== 'FAILED').length, 0, 'nothing waits any more');
  t.ok(rows.length <= 7 * 24 + 1, `${rows.length} rows after 14 days and 336 pushes`);
  t.match(
    rows.find(({ attempts }) => attempts === 0),
    {
      last_error: `${dead} has given no answer since ${new Date(begun).toISOString().slice(0, 10)} and was given up: ${dead} did not respond: it refused the connection.`,
    },
  );
  t.match(
    (await federation.listPeers()).find(({ host }) => host === dead),
    {
      silentSince: begun,
      goneAt: Number,
      followers: 1,
      queued: 0,
    },
  );
  t.equal(await federation.countDeadHosts(), 1);
  t.match(await federation.listFollowers('alice', 'tool'), [{ goneSince: begun }], 'its followers stay, marked');
  const found = await findings();
  t.same(
    found.map(({ check }) => check),
    ['queues.gone_peer'],
    'one finding, not one for each delivery',
  );
  t.match(found[0]!.remedy, `hearth federation peer test ${dead}`);
  t.match(warned, [{ event: 'peer.given_up', host: dead, silentSince: new Date(begun).toISOString() }]);
  t.equal(warned.length, 1);

  clock.advance(30 * day);
  await federation.removeOld();
  await hourlyPushes(stage, 24);
  t.same(await deliveryRows(stage), [], 'and a month later nothing is left of it, with pushes going on');
});

t.test('the first word of a server that was given up resumes it; so does a response', async (t) => {
  const stage = await setStage(t);
  const { federation, clock, dead, port, modules, push, count } = stage;
  await hourlyPushes(stage, 8 * 24);
  const goneAt = async () => (await federation.listPeers()).find(({ host }) => host === dead)?.goneAt;
  t.type(await goneAt(), 'number');
  const failed = await count('FAILED');

  const back = await startFakePeer(t, { port });
  await push();
  await federation.drain();
  t.equal(back.received.length, 0, 'nobody knows yet');
  const { createReachabilityRecorder } = await import('../../src/federation/peers/mark-peer-reachable.ts');
  await createReachabilityRecorder({ db: modules.db, clock })(dead);
  t.equal(await goneAt(), null);
  await push();
  await federation.drain();
  t.equal(back.received.length, 1, 'the next push goes out');
  t.equal(await count('FAILED'), failed, 'what was given up is not sent again by itself (SPEC §3)');
  t.equal(await federation.retryFailedDeliveries(dead), failed);
  await federation.drain();
  t.equal(await count('PENDING'), 0);
});

t.test('a test by the administrator resumes a server that responds', async (t) => {
  const stage = await setStage(t);
  const { federation, dead, port } = stage;
  await hourlyPushes(stage, 8 * 24);
  const isGone = async () => (await federation.listPeers()).find(({ host }) => host === dead)?.goneAt !== null;
  await federation.checkPeer(dead);
  t.ok(await isGone());
  const back = await startFakePeer(t, { port });
  back.addActor('/ap/instance', { type: 'Application' });
  stage.clock.advance(2_000);
  await federation.checkPeer(dead);
  t.notOk(await isGone());
});

t.test('an action for a server that is marked as gone is attempted once', async (t) => {
  const stage = await setStage(t);
  const { federation, count, modules } = stage;
  await hourlyPushes(stage, 8 * 24);
  const [{ id }] = (await modules.db.read.query(`SELECT max(id) AS id FROM federation_delivery`)) as [{ id: number }];
  const made = await federation.retryDelivery(id);
  await federation.drain();
  const row = (await deliveryRows(stage)).find((each) => each.id === made)!;
  t.match(row, { state: 'FAILED', attempts: 1 });
  t.equal(await count('PENDING'), 0);
});

t.test(
  'a server that responds with errors, or is asked again after a long pause, is not given up at once',
  async (t) => {
    const stage = await setStage(t);
    const { federation, dead, clock } = stage;
    const isGone = async () => (await federation.listPeers()).find(({ host }) => host === dead)?.goneAt !== null;
    await hourlyPushes(stage, 12);
    clock.advance(20 * day);
    await federation.recover();
    await stage.push();
    await federation.drain();
    t.notOk(await isGone(), 'nobody has asked for three weeks: one failed try says little');
    clock.advance(hour);
    await federation.drain();
    t.ok(await isGone(), 'an hour later it is still silent');

    const other = await setStage(t);
    await hourlyPushes(other, 6 * 24);
    const ill = await startFakePeer(t, { port: other.port });
    ill.respond('/inbox', (_request, response) => void response.writeHead(500).end());
    await hourlyPushes(other, 1);
    await ill.stop();
    await hourlyPushes(other, 2 * 24);
    t.match(
      (await other.federation.listPeers()).find(({ host }) => host === other.dead),
      { goneAt: null },
      'an error is an answer',
    );
  },
);

t.test(
  'followers on a server that is not allowed any more cost eight attempts for each push for a week, then none',
  async (t) => {
    const stage = await setStage(t, { allow: ['127.0.0.4'] });
    await hourlyPushes(stage, 8 * 24);
    t.equal(await stage.count('PENDING'), 0);
    const rows = (await deliveryRows(stage)).length;
    await hourlyPushes(stage, 24);
    t.equal((await deliveryRows(stage)).length, rows);
  },
);

t.test('a delivery cancelled because its repository turned private is no error', async (t) => {
  const stage = await setStage(t);
  const { modules, federation, clock, dead, push, findings } = stage;
  await push();
  await modules.repositories.changeVisibility(localAdministrator, 'alice', 'tool', 'PRIVATE');
  t.same(await federation.drain(), { delivered: 0, failed: 0 });
  t.match(await deliveryRows(stage), [{ state: 'FAILED', attempts: 0, last_error: /no longer public/ }]);
  t.match(await federation.listDeliveries(), [{ state: 'FAILED', cancelledAt: clock.now() }]);
  t.same(await findings(), [], 'doctor');
  t.match(await federation.countDeliveries(), { pending: 0, failed: 0 });
  t.match((await readInstanceStatistics(modules.db, clock.now())).deliveries, { FAILED: 0 }, 'metrics');
  t.same(await listQueuedItems(modules.db, clock.now(), { limit: 10 }), []);
  t.notOk(
    (await federation.listPeers()).some(({ host, failed }) => host === dead && failed > 0),
    'pages',
  );
  t.match(federation.measures.attempts, { failed: 0, forbidden: 1 });
  t.equal(await federation.retryFailedDeliveries(null), 0, 'and nobody sends it again by accident');
});
