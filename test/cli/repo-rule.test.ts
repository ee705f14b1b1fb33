// `hearth repo rule`: rules for branches and tags from the terminal.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openModules as realOpenModules } from '../../src/app/index.ts';
import { generateKey } from '../../src/openssh/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { runCli } from './run-cli.ts';

const folder = temporaryFolder(t);
/** Commands open and close the modules; here they stay open, which saves most of the time. */
let opened: ReturnType<typeof realOpenModules> | null = null;
const openModules: typeof realOpenModules = async (config, options) => ({
  ...(await (opened ??= realOpenModules(config, options, 'always'))),
  config,
  close: async () => {},
});
t.teardown(async () => (await opened?.catch(() => null))?.close());
const hearth = (...words: string[]) =>
  runCli(words, { cwd: folder, openModules, env: { SERVICE_DATA_DIR: path.join(folder, 'data') } });

t.test('rules are listed, added and removed', async (t) => {
  await runCli(['migrate'], { cwd: folder, env: { SERVICE_DATA_DIR: path.join(folder, 'data') } });
  for (const name of ['alice', 'bob']) await hearth('user', 'add', name, '--random-password');
  await hearth('repo', 'add', 'alice/garden');
  await hearth('repo', 'collaborator', 'add', 'alice/garden', 'bob', '--role', 'write');
  const rule = (...words: string[]) => hearth('repo', 'rule', ...words);
  t.match(await rule('list', 'alice/garden'), {
    code: 0,
    stdout: '~DEFAULT_BRANCH\tbranches\twrite,tasks\tnobody\twrite,tasks\tnobody\t\twrite\n',
  });
  t.match(
    await rule('add', 'alice/garden', 'release/*', '--push', 'admin,bob', '--linear', '--signed', '--tasks', 'none'),
    {
      code: 0,
      stdout: /Added the rule release\/\* for branches in alice\/garden/,
    },
  );
  t.match(await rule('add', 'alice/garden', 'v*', '--tag', '--create', 'owner'), { code: 0 });
  t.match(await rule('add', 'alice/garden', 'main', '--approvals', '1', '--approvers', 'bob'), { code: 0 });
  t.match((await rule('list', 'alice/garden')).stdout, /^main\t.*\t1 approvals,approvers bob\t/m);
  t.match(await rule('remove', 'alice/garden', 'main'), { code: 0 });
  const listed = JSON.parse((await rule('list', 'alice/garden', '--json')).stdout) as object;
  t.match(JSON.stringify(listed), /"pattern":"release\/\*","target":"branch"/);
  t.match(
    (await rule('list', 'alice/garden')).stdout,
    /release\/\*\tbranches\tadmin,bob\tnobody\twrite\tnobody\tlinear,signed\twrite/,
  );
  for (const [words, code, says] of [
    [['add', 'alice/garden', 'x', '--approvers', 'carol'], 2, /no active user with the username carol/],
    [['add', 'alice/garden', 'release/*'], 4, /a rule for this pattern already exists/],
    [['add', 'alice/garden', 'a b'], 2, /characters that no branch or tag name has/],
    [['add', 'alice/garden', 'x', '--push', 'write,admin'], 2, /choose one of/],
    [['add', 'alice/garden', 'x', '--push', 'carol'], 2, /no active user with the username carol/],
    [['add', 'alice/garden', 'x', '--tasks', 'dance'], 2, /not dance/],
    [['remove', 'alice/garden', 'nothing'], 3, /does not have this kind of rule for nothing/],
    [['remove', 'alice/garden', 'v*'], 3, /does not have this kind of rule for v\*/],
  ] as const) {
    const ran = await rule(...words);
    t.equal(ran.code, code, words.join(' '));
    t.match(ran.stderr, says);
  }
  t.match((await rule('remove', 'alice/garden', 'v*', '--tag', '--dry-run')).stdout, /Would remove/);
  t.match((await rule('remove', 'alice/garden', 'v*', '--tag')).stdout, /Removed the rule v\* from alice\/garden/);
  t.match((await hearth('repo', 'edit', 'alice/garden', '--no-protect')).code, 0);
  t.notMatch((await rule('list', 'alice/garden')).stdout, /DEFAULT_BRANCH/);
});

t.test('what a rule allows deploy keys', async (t) => {
  const rule = (...words: string[]) => hearth('repo', 'rule', ...words);
  t.match(await rule('add', 'alice/garden', 'built', '--push', 'nobody', '--deploy-keys', 'push'), { code: 0 });
  t.match(await rule('add', 'alice/garden', 'by-hand', '--deploy-keys', 'none'), { code: 0 });
  const { stdout } = await rule('list', 'alice/garden');
  t.match(stdout, /^built\tbranches\ttasks,deploy-keys\tnobody\twrite,tasks,no-deploy-keys\t/m);
  t.match(stdout, /^by-hand\tbranches\twrite,tasks,no-deploy-keys\tnobody\twrite,tasks,no-deploy-keys\t/m);
  t.match(await rule('add', 'alice/garden', 'x', '--deploy-keys', 'dance'), { code: 2, stderr: /not dance/ });
  for (const name of ['built', 'by-hand']) await rule('remove', 'alice/garden', name);
});

t.test('deploy keys are listed, added and removed', async (t) => {
  const key = (...words: string[]) => hearth('repo', 'deploy-key', ...words);
  const { blob } = generateKey('robot');
  writeFileSync(path.join(folder, 'robot.pub'), `ssh-ed25519 ${blob.toString('base64')} robot@example.org\n`);
  const file = path.join(folder, 'robot.pub');
  t.match(await key('list', 'alice/garden'), { code: 0, stdout: '' });
  t.match(await key('add', 'alice/garden', file), {
    code: 0,
    stdout: /^Added the deploy key robot@example\.org \(SHA256:\S+\) to alice\/garden\. It has read access only\.\n$/,
  });
  t.match(await key('add', 'alice/garden', file), { code: 4, stderr: /already in use/ });
  t.match(await key('add', 'alice/garden', path.join(folder, 'none.pub')), { code: 2, stderr: /cannot be read/ });
  t.match((await key('list', 'alice/garden')).stdout, /^robot@example\.org\tread\tssh-ed25519\tSHA256:/);
  const [row] = JSON.parse((await key('list', 'alice/garden', '--json')).stdout) as { id: string }[];
  t.match(row, { title: 'robot@example.org', access: 'read', addedBy: null, lastUsedAt: null });
  t.match(await key('remove', 'alice/garden', row!.id.slice(0, 8), '--dry-run'), { code: 0, stdout: /Would remove/ });
  t.match(await key('remove', 'alice/garden', 'SHA256:none'), { code: 3 });
  t.match(await key('remove', 'alice/garden', row!.id, '--yes'), { code: 0, stdout: /^Removed the deploy key/ });
  t.match(await key('add', 'alice/garden', file, '--write', '--title', 'builds'), { code: 0, stdout: /It can push/ });
});

t.test('rules travel with an export', async (t) => {
  await hearth('repo', 'rule', 'add', 'alice/garden', 'main', '--approvals', '1', '--approvers', 'bob');
  t.equal((await hearth('export', 'alice/garden', 'garden.bundle')).code, 0);
  t.equal((await hearth('import', 'garden.bundle', 'alice/orchard')).code, 0);
  t.match(
    (await hearth('repo', 'rule', 'list', 'alice/orchard')).stdout,
    /^release\/\*\tbranches\tadmin,bob\tnobody\twrite\tnobody\tlinear,signed\twrite\nmain\t.*\t1 approvals,approvers bob\twrite\n$/,
  );
});
