// time limit: 900 s
// kill -9 of a server whose repositories are in the store, while pushes arrive and packs are made of many: each push
// that a client was told to be done is there, in the rows and in a clone that is made of the store alone. HEARTH_KILLS
// says how often (default 2).
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { gitClient } from '../e2e/git-client.ts';
import { startServerProcess } from '../e2e/server-process.ts';
import { startFakeS3 } from '../fixtures/fake-s3-server.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { removeCaches } from '../repository-store/store-server.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const kills = Number(process.env['HEARTH_KILLS'] ?? 2);
const pushers = 3;

t.test(`${kills} kills while pushes arrive and packs are joined`, async (t) => {
  const random = seededRandom(Number(process.env['HEARTH_SEED'] ?? 1));
  const s3 = await startFakeS3(t);
  const env = { SERVICE_GIT_STORAGE: 'store', ...s3.env };
  let server = await startServerProcess(t, 'either', { env });
  const { folder } = server;
  await server.command('user', 'add', 'alice', '--random-password', '--admin');
  const token = await server.command('token', 'add', '--user', 'alice', '--name', 'laptop', '--access', 'write');
  for (const name of ['roof', 'shed']) await server.command('repo', 'create', `alice/${name}`, '--public');
  const client = gitClient(folder);
  const works = Array.from({ length: pushers }, (_, at) => path.join(folder, `work-${at}`));
  for (const work of works) {
    mkdirSync(work);
    await client.expect(work, 'init', '-q', '-b', 'main');
  }
  const remote = (name: string) => `http://${token}@${new URL(server.url).host}/git/alice/${name}.git`;
  const acknowledged = new Map<string, string>();
  let isKilled = false;
  let isHeard = false;

  /** One branch of each pusher that only grows, so that a later head may stand for an acknowledged one. */
  async function pushOn(at: number): Promise<void> {
    const work = works[at]!;
    for (let count = 0; !isKilled; count += 1) {
      await client.expect(work, 'commit', '-q', '--allow-empty', '-m', `${at} ${count}`);
      const oid = await client.expect(work, 'rev-parse', 'HEAD');
      const name = at === 0 ? 'shed' : 'roof';
      const { code } = await client.run(work, 'push', '-q', remote(name), `HEAD:refs/heads/b${at}`);
      if (code !== 0) continue;
      acknowledged.set(`${name} refs/heads/b${at}`, oid);
      isHeard = true;
    }
  }

  for (let kill = 0; kill < kills; kill += 1) {
    isKilled = false;
    isHeard = false;
    const running = works.map((_, at) => pushOn(at));
    const packing = sleep(300).then(() => server.command('repo', 'gc', 'alice/roof').catch(() => ''));
    // However slow the machine: every pusher was heard once before the first kill, and one of them before each other.
    const heard = () => (kill === 0 ? acknowledged.size === pushers : isHeard);
    await waitUntil(heard);
    await sleep(random.below(1_000));
    isKilled = true;
    await server.kill();
    await Promise.all([...running, packing]);
    server = await startServerProcess(t, 'either', { folder, env });
    if (kill % 2 === 1) removeCaches(path.join(server.dataDir, 'cache', 'repositories'));
    for (const [branch, oid] of acknowledged) {
      const [name = '', ref = ''] = branch.split(' ');
      const clone = path.join(folder, `clone-${kill}-${ref.split('/').at(-1)}`);
      await client.expect(folder, 'clone', '-q', '--mirror', remote(name), clone);
      await client.expect(clone, 'fsck', '--full', '--strict');
      t.match(await client.run(clone, 'merge-base', '--is-ancestor', oid, ref), { code: 0 }, `${branch} has ${oid}`);
    }
  }
  t.equal(await server.stop(), 0);
});
