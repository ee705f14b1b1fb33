// Kills in the middle of things. HEARTH_KILLS says how many (default 3).
// time limit: 1200 s
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { sendRaw, sign, startFakePeer } from './fake-peer.ts';
import { addDeliveries, addRepository, deliveryRows, openFederation } from './federation-fixture.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startPeer } from './two-instances.ts';

const kills = Number(process.env['HEARTH_KILLS'] ?? 3);
const slots = 64;
const program = fileURLToPath(new URL('./killed-process.ts', import.meta.url));
const random = seededRandom(Number(process.env['HEARTH_SEED'] ?? 1));

/** A stage that is closed before its folder is given away. */
async function withModules<T>(
  folder: string,
  work: (stage: Awaited<ReturnType<typeof openFederation>>) => Promise<T>,
): Promise<T> {
  const ends: (() => unknown)[] = [];
  const owner: Owner = { teardown: (end) => void ends.push(end) };
  const stage = await openFederation(owner, { folder });
  try {
    return await work(stage);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

function run(t: Owner, ...args: string[]): ChildProcess {
  const child = fork(program, args, { execArgv: ['--disable-warning=ExperimentalWarning'] });
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

/** Waits for a word of the child, or for its end. */
async function printed(child: ChildProcess, word: string): Promise<boolean> {
  return new Promise((resolve) => {
    child.on('message', (message) => message === word && resolve(true));
    child.once('exit', () => resolve(false));
  });
}

t.test(`${kills} kills during deliveries: each activity arrives, few twice, attempts and FAILED hold`, async (t) => {
  const folder = temporaryFolder(t);
  const peers = await Promise.all(Array.from({ length: 6 }, () => startFakePeer(t)));
  for (const peer of peers) peer.respond('/failed', (_request, response) => void response.writeHead(202).end());
  // So slow that every kill finds a running delivery.
  const perKill = 60;
  const inboxes = Array.from(
    { length: kills * perKill + 100 },
    (_, index) => `${peers[index % peers.length]!.origin}/inbox/${index}`,
  );
  for (const inbox of inboxes) {
    const peer = peers.find(({ origin }) => inbox.startsWith(`${origin}/`))!;
    peer.respond(
      new URL(inbox).pathname,
      (_request, response) => void setTimeout(() => response.writeHead(202).end(), 15),
    );
  }
  await withModules(folder, async (stage) => {
    await addDeliveries(stage, await addRepository(stage), inboxes);
    await stage.modules.db.write(({ manager }) =>
      manager.query(
        `INSERT INTO federation_delivery (outbox_id, target_inbox, host, state, attempts, next_attempt_at, created_at, settled_at)
                     SELECT outbox_id, ?, ?, 'FAILED', 8, 0, 0, 1 FROM federation_delivery LIMIT 20`,
        [`${peers[0]!.origin}/failed`, peers[0]!.host],
      ),
    );
  });

  let killed = 0;
  for (; killed < kills; killed++) {
    const child = run(t, 'drain', folder);
    if (!(await printed(child, 'ready'))) throw new Error('it did not start');
    await wait(20 + random.below(120));
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  const last = run(t, 'drain', folder);
  t.ok(await printed(last, 'done'), 'what is left is worked off');
  last.kill('SIGKILL');
  await once(last, 'exit');

  const arrivals = new Map<string, number>();
  for (const peer of peers) for (const { path } of peer.received) arrivals.set(path, (arrivals.get(path) ?? 0) + 1);
  const missing = inboxes.filter((inbox) => !arrivals.has(new URL(inbox).pathname));
  const repeats = [...arrivals.values()].reduce((sum, times) => sum + times - 1, 0);
  t.same(missing, [], 'each activity arrives at least once');
  t.ok(repeats <= kills * slots, `${repeats} repeats after ${killed} kills, at most ${kills * slots}`);
  t.equal(arrivals.get('/failed'), undefined, 'FAILED is never retried by itself');
  const rows = await withModules(folder, deliveryRows);
  t.equal(rows.filter(({ state }) => state === 'DELIVERED').length, inboxes.length);
  t.ok(
    rows.every(({ attempts }) => attempts <= 8),
    'attempts never pass the maximum',
  );
  t.strictSame(
    new Set(rows.filter(({ state }) => state === 'DELIVERED').map(({ attempts }) => attempts)),
    new Set([1]),
    'an attempt without a known result is not counted',
  );
});

t.test(
  `${kills} kills around the inbox: an activity that is retried until it is accepted has one effect`,
  async (t) => {
    const folder = temporaryFolder(t);
    const peer = await startFakePeer(t);
    const port = await freePort('127.0.0.1');
    const ends: (() => unknown)[] = [];
    const first = await startPeer(
      { teardown: (end) => void ends.push(end) },
      { host: '127.0.0.1', port, allow: ['127.0.0.3'], folder },
    );
    await first.addPerson('alice');
    await first.modules.repositories.create(localAdministrator, { owner: 'alice', name: 'tool', visibility: 'PUBLIC' });
    for (const end of ends.reverse()) await end();
    const tool = `http://127.0.0.1:${port}/ap/repos/alice/tool`;
    const actors = Array.from({ length: 5 * kills }, (_, index) => peer.addActor(`/users/u${index}`));
    const taken = new Map<string, number>();

    /** As an honest sender does: again and again until it is acknowledged, and once more, not sure whether it was. */
    async function deliver(actor: (typeof actors)[number]): Promise<void> {
      const body = JSON.stringify({ id: `${actor.id}/follow`, type: 'Follow', actor: actor.id, object: tool });
      for (let acknowledged = 0; acknowledged < 2; ) {
        const headers = Object.entries(
          sign({ url: `${tool}/inbox`, body, keyId: actor.keyId, privateKey: actor.keys.privateKey }),
        );
        const status = await sendRaw({ url: `${tool}/inbox`, headers, body }).then(
          (respond) => respond.status,
          () => 0,
        );
        if (status === 202) taken.set(actor.id, (acknowledged += 1));
        else await wait(20);
      }
    }
    const senders = Promise.all(
      actors.map((actor, index) => wait(Math.floor(index / 5) * 300).then(() => deliver(actor))),
    );
    for (let killed = 0; killed < kills; killed++) {
      const child = run(t, 'serve', folder, String(port));
      if (!(await printed(child, 'ready'))) throw new Error('it did not start');
      await wait(random.below(250));
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    const last = run(t, 'serve', folder, String(port));
    await printed(last, 'ready');
    await senders;
    last.kill('SIGKILL');
    await once(last, 'exit');
    await withModules(folder, async ({ modules }) => {
      const followers: { actor_id: string }[] = await modules.db.read.query(
        'SELECT actor_id FROM repository_followers',
      );
      t.equal(followers.length, actors.length, 'every follower, once');
      const accepts: { n: number }[] = await modules.db.read.query(
        `SELECT count(*) AS n FROM federation_outbox WHERE type = 'Accept'`,
      );
      t.equal(Number(accepts[0]!.n), actors.length, 'and one Accept for each');
      t.same(await modules.db.read.query('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    });
  },
);
