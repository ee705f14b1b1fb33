import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { attachmentMarkdown } from '../../src/issues/index.ts';
import { commit } from '../pulls/pulls-fixture.ts';
import { fillRepository } from '../fixtures/web-fixture.ts';
import { twoInstances } from './two-instances.ts';

const { folder, here, there, git, modulesOf } = twoInstances(t);
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const work = path.join(folder, 'work');
mkdirSync(work);
git(work, 'init', '--quiet', '--initial-branch=trunk');
for (const text of ['one', 'two']) {
  writeFileSync(path.join(work, 'file.txt'), text);
  git(work, 'add', '.');
  git(work, 'commit', '--quiet', '-m', text);
}
git(work, 'tag', '-a', 'v1', '-m', 'first');
git(work, 'notes', 'add', '-m', 'a note');
git(work, 'branch', 'topic/deep', 'HEAD~1');
const tip = git(work, 'rev-parse', 'HEAD').trim();
for (const hearth of [here, there]) {
  await hearth('migrate', '-q');
  await hearth('user', 'add', 'alice', '--password-stdin');
}

t.test(
  'repo adopt takes a repository of this machine, with a work tree or bare, and leaves the original unchanged',
  async (t) => {
    t.match(await here('repo', 'adopt', 'work', 'alice/garden', '--public'), {
      code: 0,
      stdout: /^Created public repository alice\/garden: 4 branches and tags\./,
    });
    t.match(JSON.parse((await here('repo', 'show', 'alice/garden', '--json')).stdout), {
      defaultBranch: 'trunk',
      branches: 2,
      tags: 1,
      visibility: 'PUBLIC',
    });
    t.equal(git(work, 'status', '--porcelain'), '');
    t.match(await here('repo', 'fsck', '--all'), { code: 0 });
    t.match(await here('repo', 'adopt', 'here', 'alice/x'), { code: 3, stderr: /no git repository found in / });
    t.match(await here('repo', 'adopt', 'work', 'alice/garden'), { code: 4, stderr: /already has a repository named/ });
    t.match(await here('repo', 'adopt', 'work', 'nobody/x'), { code: 2, stderr: /owner does not exist/i });
  },
);

t.test('an export bundle is one file that plain git clones, and another instance imports it completely', async (t) => {
  const modules = await modulesOf('here');
  await here('repo', 'edit', 'alice/garden', '--description', 'Plants', '--no-protect', '--gerrit-refs');
  await modules.repositories.images.replace(localAdministrator, 'alice', 'garden', {
    declaredType: 'image/png',
    bytes: png,
  });
  for (const [pattern, condition] of [
    ['release/*', '--merge-queue'],
    ['next/*', '--up-to-date'],
  ] as const)
    t.equal((await here('repo', 'rule', 'add', 'alice/garden', pattern, condition)).code, 0);
  await here('repo', 'archive', 'alice/garden');
  t.match(await here('export', 'alice/garden', 'garden.bundle'), {
    code: 0,
    stdout: /^Wrote alice\/garden to .*garden\.bundle: 4 branches and tags, [\d.]+ kB\.\n$/,
  });
  t.match(await here('export', 'alice/garden', 'garden.bundle'), { code: 4, stderr: /already exists; use --replace/ });
  t.equal((await here('export', 'alice/garden', 'garden.bundle', '--replace')).code, 0);
  t.match(await here('export', 'alice/garden', 'gone/garden.bundle'), { code: 4, stderr: /is not writable/ });
  t.match(await here('export', 'alice/none', 'x'), { code: 3 });
  t.notOk(readdirSync(path.join(folder, 'here', 'tmp')).length, 'nothing is left behind');
  t.notOk(existsSync(path.join(folder, 'x')));

  git(folder, 'clone', '--quiet', 'garden.bundle', 'cloned');
  t.equal(git(path.join(folder, 'cloned'), 'rev-parse', 'HEAD').trim(), tip);
  t.equal(readFileSync(path.join(folder, 'cloned', 'file.txt'), 'utf8'), 'two');
  git(path.join(folder, 'cloned'), 'fetch', '--quiet', 'origin', 'refs/hearth/meta');
  t.match(git(path.join(folder, 'cloned'), 'show', 'FETCH_HEAD:repository.json'), /"visibility": "PUBLIC"/);
  t.match(git(path.join(folder, 'cloned'), 'show', 'FETCH_HEAD:README.md'), /git clone FILE FOLDER/);

  t.match(await there('import', 'garden.bundle'), {
    code: 0,
    stdout: /^Created public repository alice\/garden: 4 branches and tags\./,
  });
  const shown = JSON.parse((await there('repo', 'show', 'alice/garden', '--json')).stdout) as { path: string };
  t.match(shown, {
    description: 'Plants',
    defaultBranch: 'trunk',
    visibility: 'PUBLIC',
    state: 'archived',
    branches: 2,
    tags: 1,
  });
  const { repositories } = await modulesOf('there');
  const { repository } = await repositories.find(localAdministrator, 'alice', 'garden');
  t.match(repository, { acceptsGerritRefs: true, imageContentType: 'image/png' });
  t.same(await repositories.rules.protectedDefaults([repository]), new Set());
  const rules = await repositories.rules.list(localAdministrator, 'alice', 'garden');
  t.same(
    rules.map(({ pattern, merging }) => [pattern, merging.upToDate]),
    [
      ['release/*', 'queue'],
      ['next/*', 'yes'],
    ],
  );
  const refs = (bare: string): string => git(bare, '--git-dir=.', 'for-each-ref');
  t.equal(
    refs(shown.path),
    refs(JSON.parse((await here('repo', 'show', 'alice/garden', '--json')).stdout).path as string),
    'ref for ref',
  );
  t.match(await there('repo', 'fsck', '--all'), { code: 0 });
  t.match(await there('import', 'garden.bundle'), { code: 4 });
  t.match(await there('import', 'garden.bundle', 'alice/hidden', '--private'), {
    code: 0,
    stdout: /^Created private repository alice\/hidden/,
  });
});

t.test('the bundle of an unknown owner names the person in an error', async (t) => {
  await here('org', 'add', 'acme', '--owner', 'alice');
  await here('repo', 'add', 'acme/tool');
  await here('export', 'acme/tool', 'tool.bundle');
  t.match(await there('import', 'tool.bundle'), {
    code: 2,
    stderr: /owner does not exist.*hint: the owner in this bundle does not exist on this server.*FILE OWNER\/NAME/s,
  });
  t.match(await there('import', 'tool.bundle', 'alice/tool'), {
    code: 0,
    stdout: /^Created private repository alice\/tool/,
  });
});

t.test('an empty repository can be exported and imported', async (t) => {
  await here('repo', 'add', 'alice/empty', '--default-branch', 'develop');
  t.equal((await here('export', 'alice/empty', 'empty.bundle')).code, 0);
  t.match(await there('import', 'empty.bundle'), {
    code: 0,
    stdout: /^Created private repository alice\/empty: 0 branches/,
  });
  t.match(JSON.parse((await there('repo', 'show', 'alice/empty', '--json')).stdout), {
    defaultBranch: 'develop',
    branches: 0,
  });
});

t.test('any bundle can be imported under a name; other files are refused and leave nothing behind', async (t) => {
  git(work, 'bundle', 'create', '--quiet', '../plain.bundle', '--all');
  t.match(await there('import', 'plain.bundle'), {
    code: 2,
    stderr: /specify the repository to create.*hint: .*hearth import FILE OWNER\/NAME/s,
  });
  t.match(await there('import', 'plain.bundle', 'alice/plain', '--json'), { code: 0 });
  writeFileSync(path.join(folder, 'bad.bundle'), 'no bundle');
  t.match(await there('import', 'bad.bundle', 'alice/bad'), { code: 2, stderr: /is not a git bundle/ });
  writeFileSync(path.join(folder, 'cut.bundle'), readFileSync(path.join(folder, 'plain.bundle')).subarray(0, -30));
  t.match(await there('import', 'cut.bundle', 'alice/bad'), {
    code: 2,
    stderr: /cut\.bundle cannot be read\. git said: /,
  });
  t.match(await there('import', 'gone.bundle', 'alice/bad'), { code: 3 });
  t.match(await there('import', 'plain.bundle', 'alice/bad', '--public', '--private'), { code: 2 });
  t.match(await there('repo', 'show', 'alice/bad'), { code: 3 });
  t.same(readdirSync(path.join(folder, 'there', 'tmp')), []);
});

t.test('issues travel in the bundle, and a second import updates them', async (t) => {
  const { issues, accounts } = await modulesOf('here');
  const alice = (await accounts.personByUsername('alice'))!;
  const viewer = { kind: 'person', username: 'alice', isAdministrator: false, via: 'session', scope: 'admin' } as const;
  const by = { ...viewer, id: alice.id, repositoryIds: null };
  await here('repo', 'add', 'alice/tracker');
  const at = { owner: 'alice', name: 'tracker' };
  const log = await issues.addAttachment(by, at, {
    name: 'photo.png',
    content: (async function* () {
      yield png;
    })(),
  });
  await issues.open(by, at, { title: 'One', body: attachmentMarkdown(log, at) });
  await issues.open(by, at, { title: 'Two ääö €', body: 'after #1\n\n```\nend\n```' });
  t.equal((await here('export', 'alice/tracker', 'tracker.bundle')).code, 0);
  git(folder, 'clone', '--quiet', 'tracker.bundle', 'tracker');
  const cloned = path.join(folder, 'tracker');
  git(cloned, 'fetch', '--quiet', 'origin', 'refs/hearth/meta');
  t.strictSame(git(cloned, 'ls-tree', '-r', '--name-only', 'FETCH_HEAD').trim().split('\n').sort(), [
    'README.md',
    `attachments/${log.id}`,
    'issues.json',
    'issues/1.json',
    'issues/1.md',
    'issues/2.json',
    'issues/2.md',
    'labels.json',
    'milestones.json',
    'repository.json',
  ]);
  t.match(JSON.parse(git(cloned, 'show', 'FETCH_HEAD:issues/2.json')), { title: 'Two ääö €' });

  t.match(await there('import', 'tracker.bundle'), { code: 0, stdout: /, 2 issues\. Clone it/ });
  const other = (await modulesOf('there')).issues;
  const found = await other.find(localAdministrator, { ...at, number: 2 });
  t.match(found, { title: 'Two ääö €', authorId: null, authorName: 'alice' }, 'an equal name is not the same person');
  const [photo] = await other.listAttachments(localAdministrator, { ...at, number: 1 });
  t.match(photo, { name: 'photo.png', contentType: 'image/png' });

  await issues.setTitle(by, { ...at, number: 2 }, 'Two, later');
  await issues.open(by, at, { title: 'Three' });
  t.equal((await here('export', 'alice/tracker', 'tracker.bundle', '--replace')).code, 0);
  t.match(await there('import', 'tracker.bundle', 'alice/tracker', '--issues'), {
    code: 0,
    stdout: /^Imported into alice\/tracker: 1 issue added, 2 updated\.\n$/,
  });
  t.equal((await other.find(localAdministrator, { ...at, number: 2 })).title, 'Two, later');
  t.match(await there('import', 'tracker.bundle', '--issues'), { code: 2 });
  t.match(await there('import', 'tracker.bundle', 'alice/garden', '--issues'), { code: 0 }, 'into another one, too');
});

t.test('what an export leaves out is said, in its manifest, too', async (t) => {
  const { pulls, repositories, accounts } = await modulesOf('here');
  const { id } = (await accounts.personByUsername('alice'))!;
  const by = { kind: 'person', id, username: 'alice', isAdministrator: false, via: 'session', scope: 'admin' } as const;
  const alice = { ...by, repositoryIds: null };
  await here('repo', 'add', 'alice/pulled');
  const { path: bare } = await repositories.find(alice, 'alice', 'pulled');
  await fillRepository(t, bare, { 'a.txt': 'one\n' });
  const head = commit(bare, {
    parents: [git(bare, 'rev-parse', 'main').trim()],
    files: { 'a.txt': 'two\n' },
    message: 'Two',
  });
  git(bare, 'update-ref', 'refs/heads/two', head);
  const whole = await here('export', 'alice/pulled', 'pulled.bundle');
  t.match(whole, { code: 0, stderr: '' });
  await pulls.open(alice, { owner: 'alice', name: 'pulled' }, { title: 'Two', body: '', head: 'two' });
  git(bare, 'update-ref', '-d', 'refs/heads/two');
  const kept = git(bare, 'for-each-ref', '--format=%(refname)', 'refs/hearth', 'refs/pull');
  for (const ref of kept.split('\n').filter(Boolean)) git(bare, 'update-ref', '-d', ref);
  git(bare, 'prune', '--expire=now');
  const written = await here('export', 'alice/pulled', 'pulled.bundle', '--replace');
  t.match(written, {
    code: 0,
    stderr: /Left out: 1 pull request because of missing approval or missing commits/,
  });
  const json = await here('export', 'alice/pulled', 'pulled.bundle', '--replace', '--json');
  t.match(JSON.parse(json.stdout), { leftOut: { pullRequests: 1 } });
  git(folder, 'clone', '--quiet', '--mirror', 'pulled.bundle', 'pulled.git');
  const cloned = path.join(folder, 'pulled.git');
  t.notMatch(git(cloned, 'for-each-ref'), /refs\/pull|hearth\/rounds|hearth\/keep/);
  t.throws(() => git(cloned, 'cat-file', '-e', head), 'nor are its commits in it');
  t.match(JSON.parse(git(cloned, 'show', 'refs/hearth/meta:repository.json')), { leftOut: { pullRequests: 1 } });
  t.match(git(cloned, 'show', 'refs/hearth/meta:README.md'), /Left out: 1 pull request that/);
  t.match(await there('import', 'pulled.bundle'), { code: 0 });
  const { issues: other } = await modulesOf('there');
  const { number } = await other.open(localAdministrator, { owner: 'alice', name: 'pulled' }, { title: 'Next' });
  t.equal(number, 2, 'the number of the pull request is not given again');
});

t.test('a bundle with damaged issues is refused, and makes nothing', async (t) => {
  const work = path.join(folder, 'damaged');
  git(folder, 'clone', '--quiet', '--bare', 'tracker.bundle', work);
  git(work, 'fetch', '--quiet', '../tracker.bundle', '+refs/hearth/meta:refs/hearth/meta');
  const blob = (text: string): string =>
    execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: work, input: text, encoding: 'utf8' }).trim();
  const tree = (entries: string): string =>
    execFileSync('git', ['mktree'], { cwd: work, input: entries, encoding: 'utf8' }).trim();
  const rest = git(work, 'ls-tree', 'refs/hearth/meta')
    .split('\n')
    .filter((line) => line !== '' && !line.endsWith('\tissues'));
  const damage = (folderOfIssues: string): void => {
    const root = tree(`${[...rest, `040000 tree ${folderOfIssues}\tissues`].join('\n')}\n`);
    const commit = git(work, 'commit-tree', root, '-m', 'x').trim();
    git(work, 'update-ref', 'refs/hearth/meta', commit);
    git(work, 'bundle', 'create', '--quiet', '../damaged.bundle', '--all');
  };
  const link = blob('/etc/passwd');
  damage(tree(`120000 blob ${link}\t1.json\n`));
  t.match(await there('import', 'damaged.bundle', 'alice/linked'), { code: 0 }, 'a link is no file');
  damage(tree(`100644 blob ${blob('[]')}\t1.json\n`));
  t.match(await there('import', 'damaged.bundle', 'alice/damaged'), {
    code: 2,
    stderr: /issues\/1\.json is not as it/,
  });
  t.match(await there('repo', 'show', 'alice/damaged'), { code: 3 });
  const empty = blob('{}');
  const many = Array.from(
    { length: 450_000 },
    (_, at) => `100644 blob ${empty}\t${String(at).padStart(7, '0')}.json\n`,
  );
  damage(tree(many.join('')));
  t.match(await there('import', 'damaged.bundle', 'alice/many'), {
    code: 2,
    stderr: /issues has more than 400000 files/,
  });
  t.match(await there('repo', 'show', 'alice/many'), { code: 3 });
});

t.test('releases come along with their files; what is damaged is refused', async (t) => {
  const at = { owner: 'alice', name: 'published' };
  await here('repo', 'adopt', 'work', 'alice/published');
  const source = await modulesOf('here');
  const content = async function* (text: string) {
    yield Buffer.from(text);
  };
  const upload = (name: string, text: string) =>
    source.releases.files.upload(localAdministrator, at, { tag: 'v1' }, { name, content: content(text) });
  await source.releases.create(localAdministrator, at, { tag: 'v1', title: 'One', body: 'First.', isPrerelease: true });
  await upload('tool.zip', 'bytes');
  await upload('same.zip', 'bytes');
  await upload('empty.txt', '');
  await source.releases.create(localAdministrator, at, { tag: 'v2', target: 'topic/deep', isDraft: true });
  t.match(await here('export', 'alice/published', 'published.bundle'), { code: 0 });
  t.match(await there('import', 'published.bundle'), { code: 0, stdout: /4 branches and tags, 2 releases\./ });

  const target = await modulesOf('there');
  const listOf = async ({ releases }: typeof target) => {
    const { rows } = await releases.list(localAdministrator, at, { limit: 10 });
    const described = await releases.describe(rows);
    return described.map(
      ({ tag, tagOid, target, title, body, isDraft, isPrerelease, createdAt, publishedAt, files }) => ({
        ...{ tag, tagOid, target, title, body, isDraft, isPrerelease, createdAt, publishedAt },
        files: files.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 })),
      }),
    );
  };
  t.equal((await listOf(target)).length, 2);
  t.strictSame(await listOf(target), await listOf(source));
  const { file } = await target.releases.files
    .find(localAdministrator, at, { tag: 'v1' }, { name: 'same.zip' })
    .then(async (found) => ({ file: await target.releases.files.read(found.file) }));
  t.equal((await file.stream.toArray()).join(''), 'bytes');

  const other = path.join(folder, 'unpublished');
  git(folder, 'clone', '--quiet', 'published.bundle', 'unpublished');
  git(other, 'fetch', '--quiet', 'origin', 'refs/hearth/meta');
  const refused = async (name: string, damage: () => void): Promise<void> => {
    git(other, 'checkout', '--quiet', '--force', '--detach', 'FETCH_HEAD');
    damage();
    git(other, 'add', '--all');
    git(other, 'commit', '--quiet', '-m', 'damaged');
    git(other, 'update-ref', 'refs/hearth/meta', 'HEAD');
    git(other, 'bundle', 'create', '--quiet', path.join(folder, 'bad.bundle'), 'refs/hearth/meta', 'refs/tags/v1');
    t.match(await there('import', 'bad.bundle', `alice/${name}`), {
      code: 2,
      stderr: /releases in this bundle cannot/,
    });
  };
  const list = path.join(other, 'releases.json');
  const replace = (from: string | RegExp, to: string) => () =>
    writeFileSync(list, readFileSync(list, 'utf8').replace(from, to));
  await refused('b1', replace('"tag": "v2"', '"tag": "v1"'));
  await refused('b2', replace('"same.zip"', '"../same.zip"'));
  await refused('b3', replace('"same.zip"', '"tool.zip"'));
  await refused('b4', replace('"format": 1', '"format": 2'));
  await refused('b5', replace('{', '{{'));
  await refused('b6', replace('"bytes": 5', '"bytes": 6'));
  await refused('b7', () => {
    const folderOf = path.join(other, 'releases');
    for (const name of readdirSync(folderOf)) writeFileSync(path.join(folderOf, name), 'damaged');
  });
  for (let at = 1; at <= 7; at += 1)
    t.match(await there('repo', 'show', `alice/b${at}`), { code: 3 }, `nothing is left of ${at}`);
  const { stdout } = await there('--json', 'repo', 'list');
  t.notMatch(stdout, /"b[67]"/);
  t.match(await there('import', 'published.bundle', 'alice/b7'), { code: 0 }, 'the name is free');
});
