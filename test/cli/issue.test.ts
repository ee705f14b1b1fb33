import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { runCli } from './run-cli.ts';
import type { RunCliOptions } from './run-cli.ts';
import { openModules } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';

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
const people = await Promise.all(
  ['alice', 'bob'].map((username) => modules.accounts.addPerson({ username, displayName: username })),
);
const alice = {
  kind: 'person',
  id: people[0]!.id,
  username: 'alice',
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
} as const;
const garden = { owner: 'alice', name: 'garden' };
await modules.repositories.create(alice, { name: 'garden', visibility: 'PUBLIC' });
await modules.issues.addLabel(alice, { repository: garden }, { name: 'wet', colour: '0000ff' });

const hearth = (words: readonly string[], options: RunCliOptions = {}) =>
  runCli(['issue', ...words], {
    cwd: folder,
    openModules: async () => ({ ...modules, close: async () => {} }),
    ...options,
    env: { SERVICE_DATA_DIR: dataDir, ...options.env },
  });
const json = async (...words: string[]) => JSON.parse((await hearth([...words, '--json'])).stdout) as unknown;

t.test('issues are opened, shown, commented, labelled, assigned and closed', async (t) => {
  t.match(await hearth(['new', 'alice/garden', '--title', 'It squeaks', '--body', 'The gate.', '--as', 'bob']), {
    code: 0,
    stdout: 'Opened alice/garden#1.\n',
    stderr: '',
  });
  writeFileSync(path.join(folder, 'report.md'), 'From a file.\n');
  await hearth(['new', 'alice/garden', '--title', 'Second', '--file', 'report.md', '--label', 'wet']);
  t.match(await json('list', 'alice/garden'), [
    { number: 2, author: 'Administrator', labels: ['wet'] },
    { number: 1, title: 'It squeaks', state: 'open', author: 'bob', comments: 0, closedAt: null },
  ]);
  t.match(
    (await hearth(['list', 'alice/garden', '--label', 'wet'])).stdout,
    /^2\tSecond\topen\tAdministrator\twet\t0\t/,
  );
  t.match(await hearth(['comment', 'alice/garden', '1', '--body', 'Oiled.', '--close', '--as', 'alice']), { code: 0 });
  t.match(await json('show', 'alice/garden', '1'), {
    number: 1,
    body: 'The gate.',
    state: 'closed',
    thread: [{ author: 'alice', body: 'Oiled.', hidden: null }],
  });
  t.match((await hearth(['show', 'alice/garden', '#1'])).stdout, /Title\tIt squeaks\n[^]*The gate\.\n\n--- alice/);
  t.match(await hearth(['reopen', 'alice/garden', '1']), { stdout: 'Reopened alice/garden#1.\n' });
  t.match(await hearth(['label', 'alice/garden', '1', '--add', 'wet']), { stdout: 'alice/garden#1: wet\n' });
  t.match(await hearth(['assign', 'alice/garden', '1', '--set', 'bob']), { stdout: 'alice/garden#1: bob\n' });
  t.match(await hearth(['edit', 'alice/garden', '1', '--title', 'Quiet', '--body', 'New.']), { code: 0 });
  t.match(await json('show', 'alice/garden', '1'), { title: 'Quiet', body: 'New.', revision: 2 });
  t.match(await hearth(['lock', 'alice/garden', '1', '--quiet']), { code: 0, stdout: '' });
  t.match(await hearth(['delete', 'alice/garden', '2', '--dry-run']), { code: 0, stdout: /^Would delete/ });
  t.match(await hearth(['delete', 'alice/garden', '2', '--yes']), { code: 0 });
  t.match(await hearth(['show', 'alice/garden', '2']), { code: 3 });
  t.match(await hearth(['restore', 'alice/garden', '2']), { code: 0 });
  t.match(await hearth(['close', 'alice/garden', '2', '--reason', 'not_planned']), { code: 0 });
});

t.test('refusals have the exit codes of their kind', async (t) => {
  t.match(await hearth(['show', 'alice/garden', 'x']), { code: 2 });
  t.match(await hearth(['show', 'alice/none', '1']), { code: 3 });
  t.match(await hearth(['close', 'alice/garden', '2', '--as', 'nobody']), { code: 3 });
  t.match(await hearth(['label', 'alice/garden', '1', '--add', 'wet', '--as', 'bob']), { code: 4 });
  t.match(await hearth(['label', 'alice/garden', '1', '--add', 'dry']), { code: 2, stderr: /no label named dry/ });
  t.match(await hearth(['label', 'alice/garden', '1']), { code: 2 });
  t.match(await hearth(['delete', 'alice/garden', '1']), { code: 2, stderr: /--yes/ });
  t.match(await hearth(['list', 'alice/garden', '--limit', '0']), { code: 2 });
});
