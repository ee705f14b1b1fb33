import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openModules as realOpenModules } from '../../src/app.ts';
import { localAdministrator } from '../../src/access/index.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { runCli } from './fake-process.ts';

const folder = temporaryFolder(t);
const opened = new Map<string, ReturnType<typeof realOpenModules>>();
const openModules: typeof realOpenModules = async (config, options) => {
  if (!opened.has(config.dataDir)) opened.set(config.dataDir, realOpenModules(config, options));
  return { ...(await opened.get(config.dataDir)!), config, close: async () => {} };
};
t.teardown(async () => {
  for (const modules of opened.values()) await (await modules).close();
});
const on =
  (instance: string) =>
  (...words: string[]) =>
    runCli(words, {
      cwd: folder,
      openModules,
      env: { SERVICE_DATA_DIR: path.join(folder, instance) },
      input: 'correct horse',
    });
const [here, there] = [on('here'), on('there')];
const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=alice', '-c', 'user.email=alice@example.org', ...args], {
    cwd,
    env: clientEnvironment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
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
      stdout: /^Made public repository alice\/garden: 4 branches and tags\./,
    });
    t.match(JSON.parse((await here('repo', 'show', 'alice/garden', '--json')).stdout), {
      defaultBranch: 'trunk',
      branches: 2,
      tags: 1,
      visibility: 'PUBLIC',
    });
    t.equal(git(work, 'status', '--porcelain'), '');
    t.match(await here('repo', 'fsck', '--all'), { code: 0 });
    t.match(await here('repo', 'adopt', 'here', 'alice/x'), { code: 3, stderr: /no git repository in / });
    t.match(await here('repo', 'adopt', 'work', 'alice/garden'), { code: 4, stderr: /already has a repository named/ });
    t.match(await here('repo', 'adopt', 'work', 'nobody/x'), { code: 2, stderr: /no such owner/i });
  },
);

t.test('an export bundle is one file that plain git clones, and another instance imports it completely', async (t) => {
  const modules = await opened.get(path.join(folder, 'here'))!;
  await here('repo', 'edit', 'alice/garden', '--description', 'Plants', '--no-protect', '--gerrit-refs');
  await modules.repositories.images.replace(localAdministrator, 'alice', 'garden', {
    declaredType: 'image/png',
    bytes: png,
  });
  await here('repo', 'archive', 'alice/garden');
  t.match(await here('export', 'alice/garden', 'garden.bundle'), {
    code: 0,
    stdout: /^Wrote alice\/garden to .*garden\.bundle: 4 branches and tags, [\d.]+ kB\.\n$/,
  });
  t.match(await here('export', 'alice/garden', 'garden.bundle'), { code: 4, stderr: /is there already; --replace/ });
  t.equal((await here('export', 'alice/garden', 'garden.bundle', '--replace')).code, 0);
  t.match(await here('export', 'alice/garden', 'gone/garden.bundle'), { code: 4, stderr: /nothing can be written/ });
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
    stdout: /^Made public repository alice\/garden: 4 branches and tags\./,
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
  const { repositories } = await opened.get(path.join(folder, 'there'))!;
  const { repository } = await repositories.find(localAdministrator, 'alice', 'garden');
  t.match(repository, { defaultBranchProtected: false, acceptsGerritRefs: true, imageContentType: 'image/png' });
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
    stdout: /^Made private repository alice\/hidden/,
  });
});

t.test('the bundle of an unknown owner names the person in an error', async (t) => {
  await here('org', 'add', 'acme', '--owner', 'alice');
  await here('repo', 'add', 'acme/tool');
  await here('export', 'acme/tool', 'tool.bundle');
  t.match(await there('import', 'tool.bundle'), {
    code: 2,
    stderr: /no such owner.*hint: the owner named in this bundle does not exist here.*FILE OWNER\/NAME/s,
  });
  t.match(await there('import', 'tool.bundle', 'alice/tool'), {
    code: 0,
    stdout: /^Made private repository alice\/tool/,
  });
});

t.test('an empty repository can be exported and imported', async (t) => {
  await here('repo', 'add', 'alice/empty', '--default-branch', 'develop');
  t.equal((await here('export', 'alice/empty', 'empty.bundle')).code, 0);
  t.match(await there('import', 'empty.bundle'), {
    code: 0,
    stdout: /^Made private repository alice\/empty: 0 branches/,
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
    stderr: /say which repository.*hint: hearth import FILE OWNER\/NAME/s,
  });
  t.match(await there('import', 'plain.bundle', 'alice/plain', '--json'), { code: 0 });
  writeFileSync(path.join(folder, 'bad.bundle'), 'no bundle');
  t.match(await there('import', 'bad.bundle', 'alice/bad'), { code: 2, stderr: /is no git bundle/ });
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
