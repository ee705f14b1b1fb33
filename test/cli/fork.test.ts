// hearth repo fork and sync; an export and its import keep what a repository was forked from.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openModules as realOpenModules } from '../../src/app/index.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { runCli } from './run-cli.ts';

const folder = temporaryFolder(t);
let opened: ReturnType<typeof realOpenModules> | undefined;
const openModules: typeof realOpenModules = async (config, options) => {
  opened ??= realOpenModules(config, options);
  return { ...(await opened), config, close: async () => {} };
};
t.teardown(async () => (await opened)?.close());
const hearth = (...words: string[]) =>
  runCli(words, {
    cwd: folder,
    openModules,
    env: { SERVICE_DATA_DIR: path.join(folder, 'data') },
    input: 'correct horse',
  });
const work = path.join(folder, 'work');
const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=alice', '-c', 'user.email=alice@example.org', ...args], {
    cwd: work,
    env: clientEnvironment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
mkdirSync(work);
git('init', '--quiet', '--initial-branch=main');
git('commit', '--quiet', '--allow-empty', '-m', 'one');
await hearth('migrate', '-q');
for (const name of ['alice', 'bob']) await hearth('user', 'add', name, '--password-stdin');
await hearth('repo', 'adopt', 'work', 'alice/garden', '--public');

t.test('fork and sync', async (t) => {
  const made = await hearth('repo', 'fork', 'alice/garden', 'bob', '--name', 'park');
  t.match(made, { code: 0, stdout: /^Forked alice\/garden to bob\/park\. Clone it with: git clone / });
  t.match(await hearth('repo', 'fork', 'alice/garden', 'bob'), { code: 4, stderr: /already has a fork of garden/ });
  t.match(await hearth('repo', 'fork', 'alice/garden', 'nobody'), { code: 2, stderr: /owner does not exist/ });
  t.match(await hearth('repo', 'fork', 'alice/absent', 'bob'), { code: 3 });
  t.match(JSON.parse((await hearth('repo', 'show', 'bob/park', '--json')).stdout), { forkedFrom: 'alice/garden' });
  t.match((await hearth('repo', 'show', 'alice/garden')).stdout, /Public forks\s+1/);

  t.match((await hearth('repo', 'sync', 'bob/park')).stdout, /is already up to date with alice\/garden/);
  const folderOf = JSON.parse((await hearth('repo', 'show', 'alice/garden', '--json')).stdout).path as string;
  git('commit', '--quiet', '--allow-empty', '-m', 'two');
  git('push', '--quiet', folderOf, 'main');
  const tip = git('rev-parse', 'HEAD').trim();
  t.match(JSON.parse((await hearth('repo', 'sync', 'bob/park', '--json')).stdout), {
    source: 'alice/garden',
    branch: 'main',
    newId: tip,
  });
  t.match(await hearth('repo', 'sync', 'alice/garden'), { code: 4, stderr: /no source on this server/ });
  t.match(await hearth('repo', 'sync', 'bob/park', '--branch', 'absent'), { code: 2, stderr: /has no branch absent/ });
});

t.test('an export comes back as a fork of the same repository', async (t) => {
  t.equal((await hearth('export', 'bob/park', 'park.bundle')).code, 0);
  const imported = await hearth('import', 'park.bundle', 'bob/again');
  t.equal(imported.code, 0, imported.stderr);
  t.match(JSON.parse((await hearth('repo', 'show', 'bob/again', '--json')).stdout), { forkedFrom: 'alice/garden' });
  t.match((await hearth('repo', 'show', 'alice/garden')).stdout, /Public forks\s+2/);
});
