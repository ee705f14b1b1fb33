import { mkdirSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openModules } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { viewerOf } from '../repositories/repositories-fixture.ts';

const folder = temporaryFolder(t);
const dataDir = path.join(folder, 'data');
mkdirSync(dataDir);
const env = { SERVICE_DATA_DIR: dataDir };
const { config } = loadConfig({ argvOverrides: {}, env, cwd: folder, readFile: () => '' });
const modules = await openModules(config, { logger: silentLogger }, 'always');
t.teardown(() => modules.close());
const { accounts, audit, ci, issues, repositories } = modules;
const person = await accounts.addPerson({ username: 'alice' });
const alice = viewerOf(person);
const garden = { owner: 'alice', name: 'garden' };
await repositories.create(alice, { name: 'garden', visibility: 'PRIVATE' });
await issues.open(alice, garden, { title: 'A mole' });
const found = await repositories.find(alice, 'alice', 'garden');
const { id } = found.repository;
const hearth = async (...words: string[]): Promise<string> => {
  const { code, stderr } = await runCli(words, { cwd: folder, env });
  return code === 0 ? '' : stderr;
};

const change = (settings: Parameters<typeof ci.settings.change>[2]) => ci.settings.change(alice, found, settings);
const switchTo = (isEnabled: boolean) => ci.settings.switchWorkflow(alice, found, { path: 'ci.yml', isEnabled });
const instance = { kind: 'instance' } as const;

const acts: [act: string, () => Promise<unknown>, event: string, details: object][] = [
  ['jobs may read', () => change({ tokenPermissions: 'read' }), 'ci.settings_changed', { tokenPermissions: 'read' }],
  ['CI is off', () => change({ isEnabled: false }), 'ci.settings_changed', { isEnabled: false }],
  ['a workflow is off', () => switchTo(false), 'ci.workflow_disabled', { workflow: 'ci.yml' }],
  ['and on', () => switchTo(true), 'ci.workflow_enabled', { workflow: 'ci.yml' }],
  [
    'another default branch',
    () => repositories.edit(alice, 'alice', 'garden', { defaultBranch: 'trunk' }),
    'repository.default_branch_changed',
    { repositoryId: id, from: 'main', to: 'trunk' },
  ],
  [
    'a variable of the server',
    () => ci.variables.set(instance, { name: 'MIRROR', value: 'a value' }),
    'variable.set',
    { name: 'MIRROR', scope: 'instance' },
  ],
  ['and without it', () => ci.variables.remove(instance, 'MIRROR'), 'variable.removed', { name: 'MIRROR' }],
  ['a new key of identity tokens', () => hearth('ci', 'rotate-key'), 'ci.key_rotated', {}],
  [
    'a comment in a person’s name',
    () => hearth('issue', 'comment', 'alice/garden', '1', '--body', 'It digs.', '--as', 'alice'),
    'person.acted_for',
    { personId: person.id, command: 'issue comment' },
  ],
  [
    'a private list in a person’s name',
    () => hearth('inbox', 'list', '--as', 'alice'),
    'person.acted_for',
    { personId: person.id, command: 'inbox list' },
  ],
];

t.test('each of these acts leaves one entry, and its values stay out of it', async (t) => {
  for (const [act, run, event, details] of acts) {
    await audit.flush();
    const [last] = await audit.list({ limit: 1 });
    const failure = await run();
    if (typeof failure === 'string') t.equal(failure, '', act);
    await audit.flush();
    const entries = (await audit.list({ limit: 10 })).filter((entry) => entry.id > (last?.id ?? 0));
    t.equal(entries.length, 1, `${act}: one entry`);
    t.match(entries, [{ event, details }], act);
    t.notMatch(JSON.stringify(entries), /a value|It digs/);
  }
});

t.test('an act that changes nothing, or is refused, leaves none', async (t) => {
  const before = (await audit.list({ limit: 1 }))[0]!.id;
  await repositories.edit(alice, 'alice', 'garden', { defaultBranch: 'trunk' });
  await t.rejects(ci.variables.remove(instance, 'MIRROR'));
  t.not(await hearth('issue', 'comment', 'alice/garden', '7', '--body', 'x', '--as', 'alice'), '');
  await audit.flush();
  t.equal((await audit.list({ limit: 1 }))[0]!.id, before);
});
