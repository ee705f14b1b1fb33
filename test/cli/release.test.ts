// hearth release …: from a tag with notes and files to the files on this machine.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openModules } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { personViewer } from '../../src/access/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { fillRepository } from '../fixtures/web-fixture.ts';
import { runCli } from './run-cli.ts';

t.setTimeout(120_000);

const folder = temporaryFolder(t);
const dataDir = path.join(folder, 'data');
mkdirSync(dataDir);
const { config } = loadConfig({
  argvOverrides: {},
  env: { SERVICE_DATA_DIR: dataDir },
  cwd: folder,
  readFile: () => '',
});
const modules = await openModules(config, { logger: silentLogger }, 'always');
t.teardown(() => modules.close());
const { id } = await modules.accounts.addPerson({ username: 'alice', displayName: 'alice' });
await modules.accounts.addPerson({ username: 'bob', displayName: 'bob' });
const alice = { ...personViewer(id, 'admin'), username: 'alice' };
await modules.repositories.create(alice, { name: 'garden', visibility: 'PUBLIC' });
const { path: bare } = await modules.repositories.find(alice, 'alice', 'garden');
await fillRepository(t, bare, { 'a.txt': 'one\n' });

const hearth = (words: readonly string[]) =>
  runCli(['release', ...words], {
    cwd: folder,
    openModules: async () => ({ ...modules, close: async () => {} }),
    env: { SERVICE_DATA_DIR: dataDir },
  });

t.test('a release is created, shown, edited, filled, downloaded and deleted', async (t) => {
  writeFileSync(path.join(folder, 'garden.zip'), 'zipped');
  writeFileSync(path.join(folder, 'notes.md'), 'From a file.\n');
  const create = ['create', 'alice/garden', 'v1.0', '--file', 'notes.md', '--generate-notes', '--asset', 'garden.zip'];
  const made = await hearth([...create, '--message', 'One', '--as', 'alice']);
  t.match(made, { code: 0, stdout: 'Published alice/garden v1.0.\n', stderr: '' });
  t.equal(execFileSync('git', [`--git-dir=${bare}`, 'cat-file', '-t', 'v1.0']).toString(), 'tag\n');
  const shown = await hearth(['show', 'alice/garden', '--json']);
  t.match(JSON.parse(shown.stdout), {
    tag: 'v1.0',
    draft: false,
    author: 'alice',
    files: [{ name: 'garden.zip', bytes: 6, downloads: 0 }],
    body: /^From a file\.\n\n## What has changed\n\n\* Light the first fire/,
  });
  t.match(
    (await hearth(['show', 'alice/garden', 'v1.0'])).stdout,
    /garden\.zip\n\nFrom a file\.\n\n## What has changed\n/,
  );
  t.match(await hearth(['create', 'alice/garden', 'v1.0']), {
    code: 4,
    stderr: /a release for the tag v1\.0 already exists/,
  });
  t.match(await hearth(['create', 'alice/garden', 'v2', '--as', 'bob']), { stderr: /only people with write access/ });

  t.match(await hearth(['create', 'alice/garden', 'v2', '--draft', '--asset', 'absent']), {
    stderr: /absent is not a file/i,
  });
  t.match(await hearth(['create', 'alice/garden', 'v2', '--draft']), { stdout: 'Saved the draft alice/garden v2.\n' });
  t.match((await hearth(['list', 'alice/garden'])).stdout, /v2\t\tdraft\t.*\nv1\.0/);
  t.notMatch((await hearth(['list', 'alice/garden', '--as', 'bob'])).stdout, /v2/);
  writeFileSync(path.join(folder, 'b.txt'), 'b');
  t.match(await hearth(['upload', 'alice/garden', 'v2', 'b.txt', 'garden.zip']), {
    stdout: 'Added 2 files to alice/garden v2.\n',
  });
  t.match(await hearth(['upload', 'alice/garden', 'v2', 'notes.md', 'b.txt']), {
    stderr: /already has a file named b\.txt/,
  });
  t.match(await hearth(['edit', 'alice/garden', 'v2', '--title', 'Two', '--publish', '--prerelease']), {
    stdout: 'Saved alice/garden v2.\n',
  });
  const second = JSON.parse((await hearth(['show', 'alice/garden', 'v2', '--json'])).stdout) as { files: object[] };
  t.match(second, { title: 'Two', draft: false, prerelease: true });
  t.equal(second.files.length, 2, 'all files of an upload or none');

  mkdirSync(path.join(folder, 'down'));
  t.match(await hearth(['download', 'alice/garden', 'v2', '--dir', 'down', '--name', 'b.txt']), { code: 0 });
  t.equal(readFileSync(path.join(folder, 'down', 'b.txt'), 'utf8'), 'b');
  t.notOk(existsSync(path.join(folder, 'down', 'garden.zip')));
  t.match(await hearth(['download', 'alice/garden', 'v2', '--dir', 'down']), { stderr: /b\.txt already exists/ });

  t.match(await hearth(['delete', 'alice/garden', 'v2', '--dry-run']), { stdout: /Would delete alice\/garden v2/ });
  t.match(await hearth(['delete', 'alice/garden', 'v2', '--with-tag', '--yes']), {
    stdout: 'Deleted alice/garden v2.\n',
  });
  t.match(await hearth(['show', 'alice/garden', 'v2']), { stderr: /release not found/i });
  t.throws(() => execFileSync('git', [`--git-dir=${bare}`, 'rev-parse', '--verify', 'v2'], { stdio: 'ignore' }));
});
