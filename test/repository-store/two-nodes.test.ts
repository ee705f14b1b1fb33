// time limit: 300 s
// Two servers with the same settings and the same instance key, on one real PostgreSQL and one store: what one has
// answered, the other knows at the next request. A third one begins with an empty folder. Two repositories.
import { copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { systemRandom } from '../../src/kernel/index.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import { gitClient } from '../e2e/git-client.ts';
import { startServerProcess } from '../e2e/server-process.ts';
import { startFakeS3 } from '../fixtures/fake-s3-server.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { createPostgresDatabaseFor, testPostgresUrl } from '../fixtures/test-postgres.ts';

t.setTimeout(280_000);

const rounds = Number(process.env['HEARTH_ROUNDS'] ?? 2);
const postgres = testPostgresUrl ?? (await startPostgres(t)).url;
const s3 = await startFakeS3(t);
const env = {
  SERVICE_DATABASE_URL: await createPostgresDatabaseFor(t, postgres),
  SERVICE_DATABASE_POOL: '4',
  SERVICE_GIT_STORAGE: 'store',
  ...s3.env,
};
const start = (folder: string) => startServerProcess(t, 'either', { env, folder });

const key = path.join(temporaryFolder(t), 'secret.key');
new InstanceKey(key, systemRandom, 'nodes').for('nodes');

/** A folder of a node that has nothing but the instance key. */
function emptyNode(): string {
  const folder = temporaryFolder(t);
  mkdirSync(path.join(folder, 'data', 'ci'), { recursive: true, mode: 0o700 });
  copyFileSync(key, path.join(folder, 'data', 'ci', 'secret.key'));
  return folder;
}

const a = await start(emptyNode());
/** On a busy machine PostgreSQL may take longer than its second: what was refused for that is asked again. */
async function hearth(node: { command(...words: string[]): Promise<string> }, ...words: string[]): Promise<string> {
  for (;;) {
    const done = await node.command(...words).catch((error: Error) => error);
    if (typeof done === 'string') return done;
    if (!done.message.includes('cannot be reached')) throw done;
  }
}
await hearth(a, 'user', 'add', 'alice', '--random-password', '--admin');
await hearth(a, 'user', 'add', 'bob', '--random-password');
const tokenOf = (user: string) => hearth(a, 'token', 'add', '--user', user, '--name', 'laptop', '--access', 'write');
const [token, bobToken] = [await tokenOf('alice'), await tokenOf('bob')];
for (const name of ['roof', 'shed']) await hearth(a, 'repo', 'create', `alice/${name}`, '--public');

const b = await start(emptyNode());

const client = gitClient(a.folder);
const work = path.join(a.folder, 'work');
mkdirSync(work);
await client.expect(work, 'init', '-q', '-b', 'main');
const remote = (node: { url: string }, name: string, secret = token) =>
  `http://${secret}@${new URL(node.url).host}/git/alice/${name}.git`;
const commit = async (text: string): Promise<string> => {
  await client.expect(work, 'commit', '-q', '--allow-empty', '-m', text);
  return client.expect(work, 'rev-parse', 'HEAD');
};
/** The same for git, and for pages. */
async function git(...words: string[]) {
  for (;;) {
    const done = await client.run(work, ...words);
    if (done.code === 0 || !/503|cannot be reached/.test(done.stderr)) return done;
  }
}
async function page(url: string): Promise<Response> {
  for (;;) {
    const response = await fetch(url);
    if (response.status !== 503) return response;
  }
}
const push = (node: { url: string }, name: string, ...refs: string[]) => git('push', '-q', remote(node, name), ...refs);
const listed = async (node: { url: string }, name: string): Promise<string> => {
  const { code, stdout, stderr } = await git('ls-remote', remote(node, name));
  if (code !== 0) throw new Error(stderr);
  return stdout.trim();
};

t.test(`${rounds} pushes on each: the other has them at once`, async (t) => {
  for (let round = 0; round < rounds; round += 1)
    for (const [to, from] of [
      [a, b],
      [b, a],
    ] as const) {
      const oid = await commit(`round ${round}`);
      t.match(await push(to, 'roof', 'HEAD:refs/heads/main', `HEAD:refs/heads/r${round}`), { code: 0 });
      t.match(await listed(from, 'roof'), `${oid}\trefs/heads/main`);
      const commits = await (await page(`${from.url}/alice/roof/commits/main`)).text();
      t.match(commits, oid.slice(0, 7));
    }
  t.equal(await listed(b, 'shed'), '', 'the other repository is as it was');
});

t.test('of two pushes that exclude each other one wins', async (t) => {
  for (const [ours, theirs] of Array.from(
    { length: rounds },
    () =>
      [
        ['race', 'race'],
        ['race', 'race/b'],
      ] as const,
  ).flat()) {
    const [base, left] = [await client.expect(work, 'rev-parse', 'HEAD'), await commit('left')];
    const tree = await client.expect(work, 'rev-parse', 'HEAD^{tree}');
    const right = await client.expect(work, 'commit-tree', tree, '-p', base, '-m', 'right');
    const done = await Promise.all([
      push(a, 'roof', `${left}:refs/heads/${ours}`),
      push(b, 'roof', `${right}:refs/heads/${theirs}`),
    ]);
    t.strictSame(done.map(({ code }) => code).sort(), [0, 1]);
    const [winner, name] = done[0].code === 0 ? [left, ours] : [right, theirs];
    for (const node of [a, b])
      t.strictSame(
        (await listed(node, 'roof')).split('\n').filter((line) => line.includes('race')),
        [`${winner}\trefs/heads/${name}`],
      );
    t.match(await push(b, 'roof', `:refs/heads/${name}`), { code: 0 });
  }
});

t.test('a right that one node took is gone on the other', async (t) => {
  for (let round = 0; round < rounds; round += 1) {
    const [at, other] = round % 2 === 0 ? [a, b] : [b, a];
    const bob = () => git('ls-remote', remote(other, 'roof', bobToken));
    t.equal((await bob()).code, 0);
    await hearth(at, 'repo', 'edit', 'alice/roof', '--private');
    t.equal((await bob()).code, 128);
    t.equal((await page(`${other.url}/alice/roof`)).status, 404);
    await hearth(at, 'repo', 'edit', 'alice/roof', '--public');
    t.equal((await bob()).code, 0);
  }
});

t.test('a lost disk: a node with nothing but the key serves everything', async (t) => {
  const refs = await listed(b, 'roof');
  await a.kill();
  t.equal(await listed(b, 'roof'), refs);
  const c = await start(emptyNode());
  t.equal(await listed(c, 'roof'), refs);
  const clone = path.join(work, '..', 'clone');
  t.match(await git('clone', '-q', '--mirror', remote(c, 'roof'), clone), { code: 0 });
  await client.expect(clone, 'fsck', '--full', '--strict');
  t.match(await (await page(`${c.url}/alice/roof`)).text(), 'main');
  const oid = await commit('after');
  t.match(await push(c, 'shed', 'HEAD:refs/heads/main'), { code: 0 });
  t.match(await listed(b, 'shed'), oid);
  for (const node of [b, c]) t.equal(await node.stop(), 0);
});
