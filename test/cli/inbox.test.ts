import { mkdirSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openModules } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { viewerOf } from '../repositories/repositories-fixture.ts';
import { runCli } from './run-cli.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(120_000);

const folder = temporaryFolder(t);
const dataDir = path.join(folder, 'data');
mkdirSync(dataDir);
const env = { SERVICE_DATA_DIR: dataDir };
const { config } = loadConfig({ argvOverrides: {}, env, cwd: folder, readFile: () => '' });
const modules = await openModules(config, { logger: silentLogger }, 'always');
t.teardown(() => modules.close());
const { accounts, issues, notifications, repositories } = modules;
const alice = viewerOf(await accounts.addPerson({ username: 'alice' }));
const bob = viewerOf(await accounts.addPerson({ username: 'bob' }));
await repositories.create(alice, { name: 'garden', visibility: 'PUBLIC' });

const hearth = (...words: string[]) => runCli(['inbox', ...words], { cwd: folder, env });
const listed = async (...words: string[]): Promise<{ id: number; unread: boolean; about: string }[]> =>
  JSON.parse((await hearth('list', '--as', 'alice', '--json', ...words)).stdout);

t.test('a user’s notifications are listed, changed, and changed back', async (t) => {
  await issues.open(bob, { owner: 'alice', name: 'garden' }, { title: 'A mole', body: '@alice' });
  await issues.open(bob, { owner: 'alice', name: 'garden' }, { title: 'A hare' });
  await waitUntil(async () => (await notifications.countUnread(alice)) >= 2);
  const [hare, mole] = await listed();
  t.match(
    [hare, mole],
    [
      { about: 'alice/garden#2', unread: true },
      { about: 'alice/garden#1', reason: 'mention' },
    ],
  );
  t.match((await hearth('list', '--as', 'alice', '--plain')).stdout, /\tunread\talice\/garden#1\tA mole\tmention\t/);
  const done = await hearth('done', String(mole!.id), '--as', 'alice', '--json');
  t.equal(done.code, 0);
  t.equal((await listed()).length, 1);
  t.equal((await listed('--view', 'done'))[0]!.id, mole!.id);
  const { undo } = JSON.parse(done.stdout) as { undo: string };
  t.match(await hearth('undo', undo, '--as', 'alice'), { code: 0, stdout: 'Undone.\n' });
  t.equal((await listed()).length, 2);
  t.match((await hearth('save', String(hare!.id), '--as', 'alice')).stdout, /^Saved\. To undo: hearth inbox undo/);
  t.equal((await listed('--view', 'saved'))[0]!.id, hare!.id);
  t.equal((await hearth('read', '--all', '--as', 'alice')).code, 0);
  t.same(await listed('--view', 'unread'), []);
});

t.test('a wrong call is refused before anything happens', async (t) => {
  t.equal((await hearth('list')).code, 2, 'whose');
  t.equal((await hearth('done', '--as', 'alice')).code, 2);
  t.equal((await hearth('done', 'x', '--as', 'alice')).code, 2);
  t.equal((await hearth('undo', 'unread.5', '--as', 'alice')).code, 2);
  const [first] = await listed();
  const refused = await hearth('done', String(first!.id), '--as', 'bob');
  t.not(refused.code, 0);
  t.match(refused.stderr, /no such notification/);
});
