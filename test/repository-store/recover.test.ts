// time limit: 300 s
// A box whose disk is gone: rows from a copy that is older than the last pushes, the rest from the journal in the
// store. Two repositories, a third one that the copy does not know, and the old server, which is still there.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { createApp } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { systemRandom } from '../../src/kernel/index.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { keysOf } from '../fixtures/fake-s3-server.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { clientGit, gitSync, recordingLogger, sampleRepository } from '../git/git-fixture.ts';
import { startStoreServer } from './store-server.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(280_000);

const sample = sampleRepository();
const old = await startStoreServer(t, { SERVICE_DATABASE_URL: '' });
const { s3 } = old;
const { repositories, db } = old.app.modules;
const push = async (name: string, ...refs: string[]): Promise<void> => {
  const { code, stderr } = await clientGit(['push', '--quiet', old.urlOf(name), ...refs], { cwd: sample });
  if (code !== 0) throw new Error(stderr);
};
const idOf = async (name: string) => (await repositories.find(localAdministrator, 'alice', name)).repository.id;

const box = temporaryFolder(t);
const data = path.join(box, 'data');
const env = {
  SERVICE_DATA_DIR: data,
  SERVICE_HTTP_LISTEN: '127.0.0.1:0',
  SERVICE_GRPC_LISTEN: '127.0.0.1:0',
  SERVICE_SSH_ENABLED: 'false',
  SERVICE_GIT_STORAGE: 'store',
  ...s3.env,
};
const recover = (...words: string[]) => runCli(['recover', '--from-store', '--yes', ...words], { env });

async function startAt(dataDir: string) {
  const { logger } = recordingLogger();
  const settings = { env: { ...env, SERVICE_DATA_DIR: dataDir }, cwd: box, readFile: () => '' };
  const app = await createApp(loadConfig(settings).config, { logger });
  t.teardown(() => app.stop({ graceMs: 0 }));
  return { app, start: () => app.start() };
}
const reasonOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'accepted',
    (error: Error & { reason?: string }) => error.reason ?? error.message,
  );

for (const name of ['roof', 'shed']) {
  await old.newRepository(name);
  await push(name, 'main~1:refs/heads/main', '--tags');
}
const copy = path.join(temporaryFolder(t), 'copy.db');
await db.exportTo(copy);

await push('roof', 'main', 'topic');
await push('roof', '+main~2:refs/heads/topic', ':refs/tags/light');
await push('shed', 'topic:refs/heads/later');
await old.newRepository('late');
await push('late', 'main');
await old.app.modules.git.maintenance.packAll([], async () => true);
const before = { roof: await old.refsOf('roof'), shed: await old.refsOf('shed') };
const ids = { roof: await idOf('roof'), shed: await idOf('shed'), late: await idOf('late') };

t.test('what it refuses, changing nothing', async (t) => {
  t.match(await recover('--database', copy), { code: 4, stderr: /no instance key found at \S+secret\.key/ });
  mkdirSync(path.join(data, 'ci'), { recursive: true, mode: 0o700 });
  new InstanceKey(path.join(data, 'ci', 'secret.key'), systemRandom, 'nodes').for('nodes');
  t.match(await recover(), { code: 2, stderr: /no database found at/ });
  t.match(await recover('--database', `${copy}.no`), { code: 2, stderr: /no database found at/ });
  const broken = path.join(temporaryFolder(t), 'broken.db');
  writeFileSync(broken, 'no database');
  t.match(await recover('--database', broken), { code: 6, stderr: /is not a readable database/ });
  t.match(await recover('--database', copy, '--dry-run'), { code: 2, stderr: /Copy the file there first/ });
  t.equal(keysOf(s3, 'instance/').length, 1, 'the bucket is still that of the old server');
});

t.test('an unreadable journal is named, and its repository is as in the copy', async (t) => {
  const key = `forge/journal/${ids.shed}/${keysOf(s3, `journal/${ids.shed}/`).sort().at(-1)}`;
  const kept = s3.objects.get(key)!;
  const content = Buffer.from('{');
  s3.objects.set(key, { ...kept, content, headers: {} });
  const first = await recover('--database', copy);
  t.match(first, { code: 7, stderr: /Damaged repositories remain as in the copy/ });
  t.match(first.stdout, /alice\/roof\s+recovered\s+5/);
  t.match(first.stdout, /alice\/shed\s+broken/);
  t.match(first.stdout, new RegExp(`${ids.late}\\s+unknown`), 'made after the copy');
  s3.objects.set(key, kept);
  const again = await recover();
  t.match(again, { code: 0 });
  t.match(again.stdout, /alice\/shed\s+recovered\s+1/);
  t.notMatch(again.stdout, /roof/, 'what is done is not done again');
  t.match(await recover('--database', copy), { code: 4, stderr: /already exists/ });
});

t.test('the new server has every acknowledged push', async (t) => {
  const { app, start } = await startAt(data);
  const { http } = await start();
  const token = old.tokens.alice;
  for (const name of ['roof', 'shed'] as const) {
    const url = `http://alice:${token}@127.0.0.1:${http.port}/git/alice/${name}.git`;
    t.equal((await clientGit(['ls-remote', url])).stdout, before[name], name);
    const clone = path.join(box, `clone-${name}`);
    t.equal((await clientGit(['clone', '--quiet', '--mirror', url, clone])).code, 0);
    gitSync(['fsck', '--full', '--strict'], { cwd: clone });
    t.equal(
      (await clientGit(['push', '--quiet', url, 'main:refs/heads/after'], { cwd: sample })).code,
      0,
      'and goes on',
    );
  }
  const entries = (await app.modules.db.read.query(
    "SELECT p.repository_id AS id, count(*) AS moves FROM pushes p JOIN push_updates u ON u.push_id = p.id WHERE p.via = 'undo' GROUP BY p.repository_id",
  )) as { id: string; moves: number }[];
  const moves = new Map(entries.map((entry) => [entry.id, Number(entry.moves)]));
  t.strictSame([moves.get(ids.roof), moves.get(ids.shed)], [3, 1], 'in the journal of pushes, once');
});

t.test('the server that was replaced stops, and does not start again; a foreign one does not either', async (t) => {
  const isTold = () => old.log.some(({ event }) => event === 'node.replaced');
  t.ok(await waitUntil(isTold));
  await old.app.stop({ graceMs: 0 });
  const again = await startAt(path.join(old.folder, 'data'));
  t.equal(await reasonOf(again.start()), 'instance_replaced');
  const foreign = await startAt(path.join(temporaryFolder(t), 'data'));
  t.equal(await reasonOf(foreign.start()), 'bucket_of_another_instance');
});
