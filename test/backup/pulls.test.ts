// What pull requests keep in git and in rows: bit for bit in a backup, after a restore, and after a rollback.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { openModules } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { copyDatabase } from '../../src/db/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { fillRepository } from '../fixtures/web-fixture.ts';
import { errorWithReason, gitSync } from '../git/git-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { commit } from '../pulls/pulls-fixture.ts';

t.setTimeout(180_000);

const folder = temporaryFolder(t);
const dataDir = path.join(folder, 'data');
mkdirSync(dataDir, { mode: 0o700 });
const none = '0'.repeat(40);
const roof = { owner: 'alice', name: 'roof' };
const first = { ...roof, number: 1 };

function openAt(dir: string) {
  const { config } = loadConfig({ argvOverrides: {}, env: { SERVICE_DATA_DIR: dir }, cwd: folder, readFile: () => '' });
  return openModules(config, { logger: silentLogger }, 'always');
}
type Modules = Awaited<ReturnType<typeof openAt>>;

const hearth = (dir: string, ...words: string[]) => runCli(words, { cwd: folder, env: { SERVICE_DATA_DIR: dir } });

/** What the doctor says of pull requests. */
async function findings(dir: string): Promise<unknown> {
  const { stdout } = await hearth(dir, 'doctor', '--only', 'pulls', '--json');
  const report = JSON.parse(stdout) as { findings: { area: string }[] };
  return report.findings.filter(({ area }) => area === 'pulls');
}

/** Moves a branch as a push does, and waits for its listeners. */
async function move({ repositories }: Modules, branch: string, oldId: string, newId: string): Promise<void> {
  const found = await repositories.find(localAdministrator, roof.owner, roof.name);
  const { results } = await repositories.pushes.applyUpdates(found, {
    via: 'http',
    userId: null,
    updates: [{ ref: `refs/heads/${branch}`, oldId, newId }],
  });
  if (!results.every(({ ok }) => ok)) throw new Error(JSON.stringify(results));
  await repositories.pushes.finish();
}

/** Every ref of a repository, those that clients never see, too. */
async function refsOf({ repositories }: Modules): Promise<string> {
  const { path: bare } = await repositories.find(localAdministrator, roof.owner, roof.name);
  return gitSync([`--git-dir=${bare}`, 'for-each-ref', '--format=%(objectname) %(refname)'], { cwd: bare });
}

const rowsOf = async ({ db }: Modules): Promise<unknown> => ({
  // Whether one merges cleanly is computed again after a start.
  pulls: ((await db.read.query('SELECT * FROM pulls ORDER BY issue_id')) as Record<string, unknown>[]).map(
    ({ merge_state: _state, merge_state_onto: _onto, ...row }) => row,
  ),
  rounds: await db.read.query('SELECT * FROM pull_rounds ORDER BY issue_id, round'),
  commits: await db.read.query('SELECT * FROM pull_commits ORDER BY issue_id, round, position'),
  reviews: await db.read.query('SELECT * FROM reviews ORDER BY id'),
  threads: await db.read.query('SELECT * FROM review_threads ORDER BY id'),
  comments: await db.read.query('SELECT * FROM review_comments ORDER BY thread_id, position'),
  places: await db.read.query('SELECT * FROM thread_positions ORDER BY thread_id, round'),
});

const modules = await openAt(dataDir);
const alice = viewerOf((await modules.accounts.addPerson({ username: 'alice' })).id, 'alice');
await modules.repositories.create(alice, { name: 'roof', visibility: 'PUBLIC' });
const { path: bare } = await modules.repositories.find(alice, 'alice', 'roof');
await fillRepository(t, bare, { 'tiles.txt': 'red\nblue\n' });
const git = (...words: string[]): string => gitSync([`--git-dir=${bare}`, ...words], { cwd: bare });
const main = git('rev-parse', 'main');
const written = (text: string): string =>
  commit(bare, { parents: [main], files: { 'tiles.txt': text }, message: text.trim() });
const [one, two, three] = [written('slate\n'), written('copper\n'), written('zinc\n')];
await move(modules, 'new-roof', none, one);
await modules.pulls.open(alice, roof, { title: 'A new roof', body: '', head: 'new-roof' });
const bob = viewerOf((await modules.accounts.addPerson({ username: 'bob' })).id, 'bob');
await modules.pulls.reviews.addComment(bob, first, {
  round: 1,
  path: 'tiles.txt',
  firstLine: 1,
  body: 'Is it dear?',
  sendNow: true,
});
await move(modules, 'new-roof', one, two);
await move(modules, 'new-roof', two, none);

t.test('a backup has every round, and a restore gives the same refs and rows', async (t) => {
  const refs = await refsOf(modules);
  const rows = await rowsOf(modules);
  for (const oid of [one, two, main]) t.match(refs, `${oid} refs/hearth/rounds/${oid}`);
  t.match(refs, `${two} refs/pull/1/head`);
  const { name, folder: backup } = await modules.backups.create();
  t.strictSame((await modules.backups.drill(name)).problems, []);
  const restored = path.join(temporaryFolder(t), 'data');
  t.equal((await hearth(restored, 'restore', backup)).code, 0);
  t.strictSame(await findings(restored), [], 'the doctor finds nothing');
  git('update-ref', '-d', `refs/hearth/rounds/${one}`);
  t.match(await findings(dataDir), [{ check: 'pulls.refs' }], 'it would');
  git('update-ref', `refs/hearth/rounds/${one}`, one);
  const again = await openAt(restored);
  t.teardown(() => again.close());
  t.equal(await refsOf(again), refs);
  t.strictSame(await rowsOf(again), rows);
  const { path: there } = await again.repositories.find(alice, 'alice', 'roof');
  const inRestored = (...words: string[]): string => gitSync([`--git-dir=${there}`, ...words], { cwd: there });
  t.doesNotThrow(() => inRestored('fsck', '--full', '--strict', '--no-dangling'));
  t.equal(inRestored('show', `${one}:tiles.txt`), 'slate', 'the round that was overwritten is whole');
  t.match((await hearth(restored, 'pull', 'diff', 'alice/roof', '1', '--round', '1')).stdout, /\n\+slate\n/);
});

t.test(
  'after a rollback, rounds that were pushed since come again, and the number of a lost pull is free',
  async (t) => {
    await move(modules, 'new-roof', none, two);
    mkdirSync(path.join(dataDir, 'backups'), { recursive: true });
    await copyDatabase(path.join(dataDir, 'hearth.db'), path.join(dataDir, 'backups', 'V56-before-V57.db'));
    await move(modules, 'new-roof', two, three);
    await move(modules, 'shutters', none, one);
    await modules.pulls.open(alice, roof, { title: 'Lost by the rollback', body: '', head: 'shutters' });
    const refs = await refsOf(modules);
    await modules.close();
    const done = await hearth(dataDir, 'rollback', '--yes');
    t.equal(done.code, 0, done.stderr);

    const after = await openAt(dataDir);
    t.teardown(() => after.close());
    await after.repositories.recover();
    await after.repositories.pushes.recover();
    await after.repositories.pushes.finish();
    t.equal(await refsOf(after), refs, 'nothing in git is lost');
    t.match(await after.pulls.rounds.list(alice, first), [{ headOid: one }, { headOid: two }, { headOid: three }]);
    t.strictSame(await findings(dataDir), []);
    await t.rejects(after.pulls.find(alice, { ...roof, number: 2 }), errorWithReason('issue_not_found'));
    const { issue } = await after.pulls.open(alice, roof, { title: 'Shutters', body: '', head: 'shutters' });
    t.equal(issue.number, 2);
    t.match(await refsOf(after), `${one} refs/pull/2/head`);
  },
);
