// Deploy keys with the stock clients: what they open, what they never open, who pushed, and what ends them.
import t from 'tap';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { localAdministrator } from '../../src/access/index.ts';
import { makeBareRepository, runGit } from '../fixtures/git-repositories.ts';
import { startSsh } from './ssh-fixture.ts';
import type { KeyFiles, ClientResult, RunOptions } from './ssh-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const hearth = await startSsh(t);
const alice = await hearth.person('alice');
const bob = await hearth.person('bob');
const { accounts, repositories, organisations, issues } = hearth.modules;
const { deployKeys } = repositories;
const source = await makeBareRepository(hearth.folder, { commits: 3, branches: ['next'] });

const git = (key: KeyFiles, args: readonly string[], more: RunOptions = {}): Promise<ClientResult> =>
  hearth.git(args, { keys: [key], ...more });
const lsRemote = (key: KeyFiles, repository: string) => git(key, ['ls-remote', hearth.url(repository)]);
const push = (key: KeyFiles, repository: string, ...refs: string[]) =>
  git(key, ['push', hearth.url(repository), ...refs], { cwd: source });

async function repositoryWith(name: string, visibility: 'PUBLIC' | 'PRIVATE' = 'PRIVATE') {
  await repositories.create(alice.viewer, { name, visibility });
  const made = await push(alice.key, `alice/${name}`, 'main');
  if (made.code !== 0) throw new Error(made.stderr);
}
async function deployKey(name: string, access: 'read' | 'write', title = `robot of ${name}`) {
  const key = hearth.newKey();
  const added = await deployKeys.add(alice.viewer, 'alice', name, { line: key.publicLine, access, title });
  return { ...key, id: added.id };
}
const refused = async (
  t: { match(found: unknown, wanted: unknown, title: string): unknown },
  act: Promise<unknown>,
  reason: string,
  title = reason,
) => t.match(await act.catch((error: unknown) => error), { reason }, title);
const readFailure = (outcome: ClientResult) => outcome.stderr.split('\n').filter((line) => line.startsWith('hearth:'));

await repositoryWith('site');
await repositoryWith('other');
await repositoryWith('open', 'PUBLIC');
const reads = await deployKey('site', 'read', 'reader');
const writes = await deployKey('site', 'write', 'web server');

t.test('it opens its repository as far as it may', async (t) => {
  t.match(await lsRemote(reads, 'alice/site.git'), { code: 0, stdout: /refs\/heads\/main/ });
  t.match(await git(reads, ['clone', '--quiet', hearth.url('alice/site'), path.join(hearth.work, 'clone')]), {
    code: 0,
  });
  const denied = await push(reads, 'alice/site', 'next');
  t.not(denied.code, 0);
  t.match(denied.stderr, /You can read this repository, but not push to it/);
  t.match(await push(writes, 'alice/site', 'next'), { code: 0 });
  t.ok(
    await waitUntil(async () =>
      (await deployKeys.list(alice.viewer, 'alice', 'site')).every((key) => key.lastUsedAt !== null),
    ),
    'the use of both is recorded',
  );
});

t.test('the push is by the key: in the activity, in the journal, in the log', async (t) => {
  const found = await repositories.find(alice.viewer, 'alice', 'site');
  const { pushes } = await repositories.pushes.listActivity(found, { limit: 10 });
  t.match(pushes[0], { person: null, deployKey: 'web server', via: 'ssh', updateCount: 1 });
  t.match(pushes[1], { person: { username: 'alice' }, deployKey: null });
  const [recent] = await repositories.pushes.listRecent(alice.viewer, 5);
  t.match(recent, { deployKey: 'web server', person: null });
  t.match(hearth.events('ssh.signed_in').at(-1), { keyId: writes.id });
});

t.test('everything else is absent to it, what is public, too', async (t) => {
  const absent = await lsRemote(writes, 'alice/absent');
  t.not(absent.code, 0);
  for (const name of ['other', 'open']) {
    const denied = await lsRemote(writes, `alice/${name}`);
    t.strictSame([denied.code, readFailure(denied)], [absent.code, readFailure(absent)], name);
    const pushed = await push(writes, `alice/${name}`, 'next');
    t.strictSame(readFailure(pushed), readFailure(absent), `${name} is not pushed to`);
    const lfs = (repository: string) => hearth.ssh([`git-lfs-authenticate ${repository} download`], { keys: [writes] });
    t.strictSame(await lfs(`alice/${name}`), await lfs('alice/absent'));
  }
});

t.test('it serves git alone', async (t) => {
  for (const command of ['issue list alice/site', 'pull list alice/site', 'inbox', 'repo list', 'whoami']) {
    const { code, stdout, stderr } = await hearth.ssh([command], { keys: [writes] });
    t.not(code, 0, command);
    t.equal(stdout, '');
    t.match(stderr, /^hearth: /);
  }
  t.match(await hearth.ssh([], { keys: [writes] }), { stderr: /deploy key web server/ });
  await issues.open(alice.viewer, { owner: 'alice', name: 'site' }, { title: 'Secret' });
  const viewer = (await accounts.viewerOfKey(Buffer.from(writes.publicLine.split(' ')[1]!, 'base64'), {
    address: null,
  }))!;
  await t.rejects(issues.find(viewer.viewer, { owner: 'alice', name: 'site', number: 1 }), { code: 'not_found' });
  const proposed = await push(writes, 'alice/site', 'next:refs/for/main');
  t.not(proposed.code, 0, 'a pull request is opened by a person');
  const created = await push(writes, 'alice/brand-new', 'next');
  t.not(created.code, 0, 'and no repository is made by a push');
});

t.test('branch rules decide about deploy keys by themselves', async (t) => {
  await repositoryWith('ruled');
  const robot = await deployKey('ruled', 'write');
  const rule = { target: 'branch', pattern: 'release' };
  await repositories.rules.add(alice.viewer, 'alice', 'ruled', {
    ...rule,
    grants: { push: { level: 'write', deployKeys: false }, create: { level: 'write', deployKeys: true } },
  });
  const result = async (...refs: string[]) => {
    const { code, stderr } = await push(robot, 'alice/ruled', ...refs);
    return code === 0 ? 'pushed' : (/\((branch rule.*)\)/.exec(stderr)?.[1] ?? stderr);
  };
  t.equal(await result('main~1:refs/heads/release'), 'pushed', 'it may create');
  t.match(await result('main:release'), /branch rule "release": you may not push to it/);
  t.match(await push(alice.key, 'alice/ruled', 'main:release'), { code: 0 }, 'others by their role');
  t.match(await result('+main~1:main'), /default branch" \(~DEFAULT_BRANCH\): force pushes are not allowed/);
  t.match(await result('next:main', ':release'), /deleting is not allowed/);

  const id = (await repositories.rules.list(alice.viewer, 'alice', 'ruled')).find(
    (each) => each.pattern === 'release',
  )!.id;
  const only = { level: 'nobody', deployKeys: true };
  await repositories.rules.change(alice.viewer, 'alice', 'ruled', id, { pattern: 'release', grants: { push: only } });
  t.equal(await result('next:release'), 'pushed', 'a branch for deploy keys alone');
  t.match((await push(alice.key, 'alice/ruled', '+main~1:release')).stderr, /you may not push to it/);
});

t.test('a key opens one thing', async (t) => {
  const taken = { code: 'conflict', reason: 'key_in_use', message: 'This key is already in use.' };
  const add = (name: string, line: string) => deployKeys.add(alice.viewer, 'alice', name, { line, access: 'read' });
  await t.rejects(add('other', bob.key.publicLine), taken, 'not the key of a person');
  await t.rejects(add('other', writes.publicLine), taken, 'not that of another repository');
  await t.rejects(add('site', writes.publicLine), taken, 'nor twice the same');
  await t.rejects(accounts.addKey(bob.id, { line: reads.publicLine }), taken, 'nor that of a person afterwards');
  await t.rejects(accounts.addKey(bob.id, { line: reads.publicLine, uses: 'authentication' }), taken);
  t.match(
    await accounts.addKey(bob.id, { line: reads.publicLine, uses: 'signing' }),
    { uses: 'signing' },
    'which opens nothing',
  );
  t.match(await lsRemote(reads, 'alice/site'), { code: 0 }, 'and takes nothing');
});

t.test('bad input is refused, and so is everyone who does not administer the repository', async (t) => {
  const line = hearth.newKey().publicLine;
  const add = (input: object) => deployKeys.add(alice.viewer, 'alice', 'site', { line, access: 'read', ...input });
  await refused(t, add({ access: 'admin' }), 'invalid_key_access');
  await refused(t, add({ line: 'ssh-ed25519 AAAA' }), 'key_unreadable');
  await refused(t, add({ title: 'x'.repeat(101) }), 'text_too_long');
  await refused(t, deployKeys.remove(alice.viewer, 'alice', 'other', writes.id), 'unknown_deploy_key');
  await repositories.collaborators.add(alice.viewer, 'alice', 'site', { username: 'bob', role: 'write' });
  const hidden = 'repository_not_found';
  await refused(t, deployKeys.list(bob.viewer, 'alice', 'site'), hidden);
  await refused(t, deployKeys.add(bob.viewer, 'alice', 'site', { line, access: 'read' }), hidden);
  await refused(t, deployKeys.remove(bob.viewer, 'alice', 'site', writes.id), hidden);
  const token = { ...alice.viewer, via: 'token', scope: 'write' } as const;
  await refused(t, deployKeys.add(token, 'alice', 'site', { line, access: 'read' }), hidden, 'a token that writes');
});

t.test('it goes along with its repository, and keeps what was done apart', async (t) => {
  await repositoryWith('moves');
  const robot = await deployKey('moves', 'write');
  await repositories.rename(alice.viewer, 'alice', 'moves', 'moved');
  t.match(await lsRemote(robot, 'alice/moved'), { code: 0 });
  t.match(await lsRemote(robot, 'alice/moves'), { code: 0, stderr: /has moved to alice\/moved/ });

  await organisations.create(alice.viewer, { name: 'acme' });
  await repositories.transfers.start(alice.viewer, 'alice', 'moved', 'acme');
  t.match(await lsRemote(robot, 'acme/moved'), { code: 0 }, 'transferred');
  await repositories.setArchived(alice.viewer, 'acme', 'moved', true);
  t.match(await lsRemote(robot, 'acme/moved'), { code: 0 }, 'archived: read');
  t.match((await push(robot, 'acme/moved', 'next')).stderr, /archived and read-only/);
  await repositories.setArchived(alice.viewer, 'acme', 'moved', false);

  await repositories.trash.move(alice.viewer, 'acme', 'moved');
  const absent = readFailure(await lsRemote(robot, 'acme/absent'));
  t.strictSame(readFailure(await lsRemote(robot, 'acme/moved')), absent, 'in the trash: absent');
});

t.test('it does not need the person who added it', async (t) => {
  const carol = await hearth.person('carol');
  await repositories.collaborators.add(alice.viewer, 'alice', 'other', { username: 'carol', role: 'admin' });
  const key = hearth.newKey();
  await deployKeys.add(carol.viewer, 'alice', 'other', { line: key.publicLine, access: 'read' });
  await accounts.setDisabled(carol.id, true);
  t.match(await lsRemote(key, 'alice/other'), { code: 0 }, 'suspended');
  t.match(await deployKeys.list(localAdministrator, 'alice', 'other'), [{ person: { username: 'carol' } }]);
});

t.test('a key that is removed is refused, in a push that has begun, too', async (t) => {
  await repositoryWith('ends');
  const robot = await deployKey('ends', 'write');
  const [key] = await deployKeys.list(alice.viewer, 'alice', 'ends');
  const hook = path.join(source, 'hooks', 'pre-push');
  // git has the ref advertisement by now, and sends nothing before the hook ends.
  const flag = path.join(hearth.work, 'begun');
  writeFileSync(hook, `#!/bin/sh\ntouch '${flag}'\nwhile [ ! -e '${flag}-on' ]; do sleep 0.05; done\n`, {
    mode: 0o755,
  });
  t.teardown(() => runGit(['config', '--unset', 'core.hooksPath'], { cwd: source }));
  await runGit(['config', 'core.hooksPath', path.join(source, 'hooks')], { cwd: source });
  const pushing = push(robot, 'alice/ends', 'next');
  const { existsSync } = await import('node:fs');
  t.ok(await waitUntil(() => existsSync(flag)));
  await deployKeys.remove(alice.viewer, 'alice', 'ends', key!.id);
  writeFileSync(`${flag}-on`, '');
  const { code, stderr } = await pushing;
  t.not(code, 0);
  t.match(stderr, /this deploy key is no longer accepted/);
  t.match((await lsRemote(robot, 'alice/ends')).stderr, /Permission denied \(publickey\)/);
  t.match(hearth.events('repository.deploy_key_removed').at(-1), { keyId: key!.id, by: alice.id });
});

t.test('as many as the settings say', async (t) => {
  const limited = await startSsh(t, { env: { SERVICE_KEYS_MAX_PER_REPOSITORY: '1' } });
  const dave = await limited.person('dave');
  await limited.modules.repositories.create(dave.viewer, { name: 'one', visibility: 'PRIVATE' });
  const add = () =>
    limited.modules.repositories.deployKeys.add(dave.viewer, 'dave', 'one', {
      line: limited.newKey().publicLine,
      access: 'read',
    });
  t.match(await add(), { title: 'ssh-ed25519', access: 'read' });
  await refused(t, add(), 'too_many_deploy_keys');
});
