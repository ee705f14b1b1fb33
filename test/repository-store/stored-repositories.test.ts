// Repositories whose refs are rows and whose packs are objects: each change is followed by a clone from the store,
// whose refs are those that clients saw before. Two repositories, so that nothing of one is taken for the other's.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { keysOf } from '../fixtures/fake-s3-server.ts';
import { clientGit, gitSync, sampleRepository } from '../git/git-fixture.ts';
import { startStoreServer } from './store-server.ts';

t.setTimeout(240_000);

const sample = sampleRepository();
const idOf = (revision: string) => gitSync(['rev-parse', revision], { cwd: sample });
const server = await startStoreServer(t);
const { s3, app } = server;
const { repositories } = app.modules;

async function must(args: readonly string[], cwd = sample): Promise<string> {
  const { code, stderr } = await clientGit(args, { cwd });
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stderr;
}

async function api(method: string, target: string, body?: unknown): Promise<{ status: number; json: unknown }> {
  const response = await fetch(`${server.origin}/api/v1${target}`, {
    method,
    headers: { Authorization: `token ${server.tokens.alice}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
/** `<oid> <ref>` lines of `ls-remote`, without HEAD and peeled tags. */
const plain = (listed: string): string =>
  listed
    .split('\n')
    .filter((line) => line !== '' && !line.endsWith('\tHEAD') && !line.endsWith('^{}'))
    .map((line) => line.replace('\t', ' '))
    .join('\n');

const other = await server.newRepository('other', 'PRIVATE');
await must(['push', '--quiet', other, 'topic:main']);
const otherRefs = await server.refsOf('other');

const url = await server.newRepository('roof');

/** A change, and whether the refs differ after it. */
const changes: [name: string, change: () => Promise<unknown>, isSame?: true][] = [
  ['a push to an empty repository', () => must(['push', '--quiet', url, 'main~1:refs/heads/main'])],
  ['a push of one commit, a branch and tags', () => must(['push', '--quiet', url, 'main', 'topic', '--tags'])],
  ['a push without a pack', () => must(['push', '--quiet', url, 'main~2:refs/heads/old'])],
  ['a name instead of one below it', () => must(['push', '--quiet', url, ':old', 'main:refs/heads/old/er'])],
  ['a rewritten branch', () => must(['push', '--quiet', url, '+main~1:topic'])],
  [
    'a commit over the API',
    async () =>
      t.equal(
        (await api('POST', '/repos/alice/roof/contents/a.txt', { content: base64('a'), message: 'A', branch: 'main' }))
          .status,
        201,
      ),
  ],
  [
    'a branch over the API',
    async () =>
      t.equal(
        (await api('POST', '/repos/alice/roof/branches', { new_branch_name: 'fix', old_branch_name: 'main' })).status,
        201,
      ),
  ],
  [
    'a commit on it',
    async () =>
      t.equal(
        (await api('POST', '/repos/alice/roof/contents/b.txt', { content: base64('b'), message: 'B', branch: 'fix' }))
          .status,
        201,
      ),
  ],
  [
    'a pull request',
    async () =>
      t.equal((await api('POST', '/repos/alice/roof/pulls', { head: 'fix', base: 'main', title: 'B' })).status, 201),
  ],
  [
    'its merge',
    async () => t.equal((await api('POST', '/repos/alice/roof/pulls/1/merge', { Do: 'merge' })).status, 200),
  ],
  ['a tag that is deleted', () => must(['push', '--quiet', url, ':light'])],
];

for (const [name, change, isSame] of changes) {
  t.test(name, async (t) => {
    const before = plain(await server.refsOf('roof').catch(() => ''));
    await change();
    const after = plain(await server.refsOf('roof'));
    t[isSame === true ? 'equal' : 'not'](after, before);
    t.equal(await server.cloneOf('roof'), after, 'a clone from the store has the same');
  });
}

t.test('nothing of the repository is a folder, and the other one is as it was', async (t) => {
  t.strictSame(
    readdirSync(path.join(server.folder, 'data')).filter((name) => name === 'repositories'),
    [],
  );
  t.equal(await server.refsOf('other'), otherRefs);
  t.equal(await server.cloneOf('other'), `${idOf('topic')} refs/heads/main`);
});

t.test('a page and the API read a repository whose folder was removed', async (t) => {
  server.emptyCache();
  const page = await fetch(`${server.origin}/alice/roof`);
  t.equal(page.status, 200);
  t.match(await page.text(), /a\.txt/);
  server.emptyCache();
  const file = await api('GET', '/repos/alice/roof/contents/b.txt');
  t.match(file, { status: 200, json: { content: base64('b') } });
  const hidden = await fetch(`${server.origin}/alice/other`);
  t.equal(hidden.status, 404, 'a private one is as absent as ever');
});

t.test('a fork names the packs of its source, and outlives it', async (t) => {
  t.equal((await api('POST', '/orgs', { username: 'guild' })).status, 201);
  const packs = keysOf(s3, 'packs/').length;
  t.equal((await api('POST', '/repos/alice/roof/forks', { organization: 'guild', name: 'porch' })).status, 202);
  t.equal(keysOf(s3, 'packs/').length, packs, 'no pack was sent');
  const heads = (refs: string) => refs.split('\n').filter((line) => / refs\/(heads|tags)\//.test(line));
  const source = heads(await server.cloneOf('roof'));
  t.strictSame(heads(await server.cloneOf('guild/porch')), source);
  const porch = server.urlOf('guild/porch');
  await must(['push', '--quiet', porch, 'topic:refs/heads/own']);
  t.match(await server.cloneOf('guild/porch'), ` refs/heads/own`);
  t.notMatch(await server.cloneOf('roof'), ` refs/heads/own`);

  const { id } = (await repositories.find(localAdministrator, 'alice', 'roof')).repository;
  await repositories.trash.move(localAdministrator, 'alice', 'roof');
  t.equal((await clientGit(['ls-remote', url])).code, 128);
  await repositories.trash.restore(localAdministrator, id, 'barn');
  t.strictSame(heads(await server.cloneOf('barn')), source, 'from the trash under another name');
  await repositories.trash.move(localAdministrator, 'alice', 'barn');
  await repositories.trash.empty(0);
  t.strictSame(await app.modules.db.read.query('SELECT 1 FROM stored_repositories WHERE id = ?', [id]), []);
  t.match(await server.cloneOf('guild/porch'), ` refs/heads/own`);
});

t.test('a wiki', async (t) => {
  const page = { title: 'Home', content_base64: base64('# Home') };
  t.equal((await api('POST', '/repos/guild/porch/wiki/new', page)).status, 201);
  server.emptyCache();
  t.match(await api('GET', '/repos/guild/porch/wiki/page/Home'), { status: 200 });
  const clone = path.join(server.folder, 'wiki');
  await must(['clone', '--quiet', server.urlOf('guild/porch').replace(/\.git$/, '.wiki.git'), clone]);
  writeFileSync(path.join(clone, 'Roof.md'), '# Roof\n');
  gitSync(['add', '.'], { cwd: clone });
  gitSync(['commit', '--quiet', '--message=Add a page'], { cwd: clone });
  await must(['push', '--quiet'], clone);
  server.emptyCache();
  t.match(await api('GET', '/repos/guild/porch/wiki/page/Roof'), { status: 200 });
});

t.test('a folder that knows more than the store does not accept more', async (t) => {
  const target = await server.newRepository('shed');
  await must(['push', '--quiet', target, 'main']);
  const folder = await server.pathOf('shed');
  // As a merge does that comes to nothing: objects that no row names.
  const tree = gitSync(['rev-parse', 'main^{tree}'], { cwd: sample });
  const stray = gitSync(['--git-dir', folder, 'commit-tree', tree, '-p', idOf('main'), '-m', 'Stray']);
  const clone = path.join(server.folder, 'shed');
  mkdirSync(clone);
  gitSync(['init', '--quiet'], { cwd: clone });
  gitSync(['fetch', '--quiet', folder, idOf('main')], { cwd: clone });
  // The client names the commit without sending it: it believes that the server has it.
  gitSync(['commit-tree', tree, '-p', idOf('main'), '-m', 'Stray'], { cwd: clone });
  gitSync(['update-ref', 'refs/remotes/origin/x', stray], { cwd: clone });
  const child = gitSync(['commit-tree', tree, '-p', stray, '-m', 'Child'], { cwd: clone });
  await must(['push', '--quiet', target, `${child}:refs/heads/child`], clone);
  t.match(await server.cloneOf('shed'), `${child} refs/heads/child`);
});

t.test('many packs become one, also beside a push; the old ones go a day later', async (t) => {
  const { git, db } = app.modules;
  const target = await server.newRepository('many');
  const { path: place, repository } = await repositories.find(localAdministrator, 'alice', 'many');
  const packs = async () =>
    (await db.read.query('SELECT replaced_at FROM git_packs WHERE repository = ?', [repository.id])) as {
      replaced_at: number | null;
    }[];
  for (let at = 0; at < 4; at += 1) {
    const oid = gitSync(['commit-tree', 'main^{tree}', '-p', 'main', '-m', `Many ${at}`], { cwd: sample });
    await must(['push', '--quiet', target, `${oid}:refs/heads/b${at}`]);
  }
  const oid = gitSync(['commit-tree', 'main^{tree}', '-p', 'main', '-m', 'Beside'], { cwd: sample });
  await Promise.all([git.maintenance.pack(place), must(['push', '--quiet', target, `${oid}:refs/heads/beside`])]);
  const left = (await packs()).filter((pack) => pack.replaced_at === null);
  t.ok(left.length <= 2, 'one, and perhaps that of the push');
  t.equal(plain(await server.refsOf('many')), await server.cloneOf('many'));
  t.equal((await packs()).length - left.length >= 4, true);
  await db.write(({ manager }) =>
    manager.query('UPDATE git_packs SET replaced_at = 1 WHERE replaced_at > 0 AND repository = ?', [repository.id]),
  );
  await git.maintenance.run();
  t.equal((await packs()).length, left.length);
  t.equal(keysOf(s3, `packs/${repository.id}/`).length, 2 * left.length, 'packs and indexes');
  t.equal(plain(await server.refsOf('many')), await server.cloneOf('many'));
});

t.test('a backup has them as folders, and needs no store', async (t) => {
  const to = path.join(server.folder, 'backups');
  server.emptyCache();
  const made = await app.modules.backups.create({ to });
  t.strictSame([made.missing, made.damaged], [[], []]);
  const { repository, owner } = await repositories.find(localAdministrator, 'alice', 'many');
  const folder = path.join(made.folder, 'repositories', owner.id, `${repository.id}.git`);
  t.equal(
    gitSync(['--git-dir', folder, 'for-each-ref', '--format=%(objectname) %(refname)']),
    plain(await server.refsOf('many')),
  );
  gitSync(['--git-dir', folder, 'fsck', '--full']);
  const rows = new DatabaseSync(path.join(made.folder, 'hearth.db'), { readOnly: true });
  t.strictSame(rows.prepare('SELECT id FROM stored_repositories').all(), []);
  t.equal(rows.prepare('SELECT id FROM repositories WHERE id = ?').all(repository.id).length, 1);
  rows.close();
});

t.test('two pushes of names that exclude each other: one winner', async (t) => {
  const target = await server.newRepository('names');
  await must(['push', '--quiet', target, 'main']);
  for (let round = 0; round < 3; round += 1) {
    const pushes = await Promise.all(
      [`main:refs/heads/a${round}`, `topic:refs/heads/a${round}/b`].map((ref) =>
        clientGit(['push', target, ref], { cwd: sample }),
      ),
    );
    t.strictSame(pushes.map(({ code }) => code).sort(), [0, 1]);
    t.equal(plain(await server.refsOf('names')), await server.cloneOf('names'));
  }
});

t.test('a folder that goes while it is read', async (t) => {
  const clones = Array.from({ length: 4 }, (_, at) =>
    clientGit(['clone', '--quiet', server.urlOf('guild/porch'), path.join(server.folder, `gone-${at}`)]),
  );
  server.emptyCache();
  await Promise.all(clones);
  t.match(await server.cloneOf('guild/porch'), ` refs/heads/own`, 'the next one is whole');
  t.ok(existsSync(server.caches));
});
