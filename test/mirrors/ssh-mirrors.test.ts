// Mirrors and imports by ssh: the remote is the sshd of this machine.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { PersonViewer } from '../../src/access/index.ts';
import { createGit } from '../../src/git/index.ts';
import type { SshRemote } from '../../src/git/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import type { MirrorInput } from '../../src/mirrors/index.ts';
import { reasonOf } from '../ci/ci-fixture.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth, TestPerson } from '../fixtures/start-hearth.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { gitClient } from '../e2e/git-client.ts';
import { addCommit, hasSshd, createBareRepository, startSshRemote, readRefs } from './remote-servers.ts';

t.setTimeout(180_000);

const canTry = hasSshd() ? {} : { skip: 'needs an sshd that can be started here' };
const there = hasSshd() ? await startSshRemote(t) : (null as never);
let here: Hearth;
let alice: TestPerson;
let viewer: PersonViewer;

t.before(async () => {
  if ('skip' in canTry) return;
  // A folder that a shell, and the options of ssh, would take apart.
  const folder = path.join(temporaryFolder(t), "it's a %d $HOME folder");
  mkdirSync(folder);
  here = await startHearth(t, { folder, env: { SERVICE_MIRRORS_ALLOWED_HOSTS: there.host } });
  alice = await here.addPerson('alice');
  viewer = {
    kind: 'person',
    id: alice.id,
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  };
  createBareRepository(there.folder, 'tool.git');
});

const found = (name: string) => here.modules.repositories.find(viewer, 'alice', name);
const idOf = async (name: string) => (await found(name)).repository.id;
const mirrorOf = async (name: string) => (await here.modules.mirrors.find(await idOf(name)))!;
const refsOf = async (name: string) => new Map(await here.modules.git.refs.list((await found(name)).path));
const settings = (more: Partial<MirrorInput> = {}): MirrorInput => ({
  direction: 'pull',
  address: `${there.url}/tool.git`,
  intervalMs: 8 * 3_600_000,
  prune: true,
  ...more,
});
const save = async (name: string, more?: Partial<MirrorInput>) =>
  here.modules.mirrors.save(viewer, await found(name), settings(more));
const make = (name: string) => here.modules.repositories.create(viewer, { name, visibility: 'PRIVATE' });
async function sync(name: string): Promise<void> {
  await here.modules.mirrors.sync(await idOf(name));
  await here.modules.mirrors.runDue();
}
/** What a connection leaves behind. */
const keyFolders = (): string[] =>
  readdirSync(path.join(here.config.dataDir, 'run', 'git')).filter((name) => name.startsWith('ssh-'));

t.test(
  'a pull mirror shows its key, trusts the host at first sight, and begins when told that the key is there',
  canTry,
  async (t) => {
    const { mirrors, db } = here.modules;
    await make('copy');
    const saved = await save('copy');
    t.match(saved, {
      state: 'waiting for key',
      isWaitingForKey: true,
      isPaused: true,
      hostKeyFingerprint: `ED25519 ${there.fingerprint()}`,
      offeredFingerprint: null,
      hasSecret: false,
    });
    t.match(saved.sshPublicKey, /^ssh-ed25519 [A-Za-z0-9+/]{68} mirror@hearth$/);
    const rows: object[] = await db.read.query('SELECT host_key FROM mirrors');
    t.strictSame(
      rows.map((row) => ({ ...row })),
      [{ host_key: there.hostKey() }],
    );
    t.notMatch(there.log(), /Accepted publickey/, 'nobody has signed in for that');
    t.equal(await mirrors.runDue(), 0, 'it waits');
    t.notMatch(JSON.stringify([saved, here.log, await db.read.query('SELECT * FROM mirrors')]), /PRIVATE KEY/);

    await mirrors.setPaused(viewer, await idOf('copy'), false);
    await mirrors.runDue();
    t.match(await mirrorOf('copy'), {
      state: 'failing 1',
      lastError: /does not accept the SSH key.*Add its public key there/,
    });

    there.allow(saved.sshPublicKey!);
    await sync('copy');
    t.match(await mirrorOf('copy'), { state: 'ok', lastError: null, failures: 0 });
    t.strictSame(await refsOf('copy'), readRefs(path.join(there.folder, 'tool.git')));

    const two = addCommit(path.join(there.folder, 'tool.git'), 'main', 'two');
    await sync('copy');
    t.equal((await refsOf('copy')).get('refs/heads/main'), two);
    t.strictSame(keyFolders(), [], 'no key is left on the disk');

    // Saving something else keeps key and trust, and it goes on.
    t.match(await save('copy', { intervalMs: 3_600_000 }), { sshPublicKey: saved.sshPublicKey, isPaused: false });
    await mirrors.runDue();
    t.match(await mirrorOf('copy'), { state: 'ok' });
    const renewed = await save('copy', { newKey: true });
    t.not(renewed.sshPublicKey, saved.sshPublicKey);
    t.match(renewed, { state: 'waiting for key' });
  },
);

t.test('a push mirror updates the remote soon after each push', canTry, async (t) => {
  const { mirrors, repositories } = here.modules;
  const target = createBareRepository(there.folder, 'target.git', { isEmpty: true });
  await make('source');
  const client = gitClient(here.folder);
  const work = path.join(here.folder, 'work');
  await client.expect(here.folder, 'init', '--quiet', '-b', 'main', work);
  await client.expect(work, 'commit', '--quiet', '--allow-empty', '-m', 'one');
  const remote = `${here.url.replace('://', `://x:${alice.token}@`)}/git/alice/source.git`;
  await client.expect(work, 'push', '--quiet', remote, 'main', 'main:topic');
  const saved = await save('source', { direction: 'push', address: `${there.url}/target.git` });
  there.allow(saved.sshPublicKey!);
  await mirrors.setPaused(viewer, await idOf('source'), false);
  await mirrors.runDue();
  t.strictSame(readRefs(target), await refsOf('source'));
  await client.expect(work, 'push', '--quiet', remote, 'main:new', ':topic');
  await repositories.pushes.finish();
  await mirrors.runDue();
  t.strictSame([...readRefs(target).keys()], ['refs/heads/main', 'refs/heads/new']);
  t.match(await mirrorOf('source'), { state: 'ok' });
});

t.test('each mirror has a key of its own, which opens for it alone', canTry, async (t) => {
  const { db, mirrors } = here.modules;
  const rows: { repository_id: string; ssh_key_ciphertext: string; ssh_public_key: string }[] = await db.read.query(
    'SELECT repository_id, ssh_key_ciphertext, ssh_public_key FROM mirrors WHERE ssh_public_key IS NOT NULL',
  );
  t.equal(new Set(rows.map(({ ssh_public_key: key }) => key)).size, 2);
  const [own, other] = [await idOf('source'), await idOf('copy')];
  const ciphertextOf = (id: string) => rows.find((row) => row.repository_id === id)!.ssh_key_ciphertext;
  const put = (ciphertext: string) =>
    db.write(({ manager }) =>
      manager.query('UPDATE mirrors SET ssh_key_ciphertext = ? WHERE repository_id = ?', [ciphertext, own]),
    );
  await put(ciphertextOf(other));
  await sync('source');
  t.match(await mirrorOf('source'), { state: 'failing 1', lastError: /SSH key cannot be decrypted/ });
  await put(ciphertextOf(own));
  await sync('source');
  t.match(await mirrorOf('source'), { state: 'ok' });
  t.equal(await mirrors.runDue(), 0);
});

t.test('a changed host key stops the mirror until a person accepts the one that was compared', canTry, async (t) => {
  const { mirrors } = here.modules;
  const id = await idOf('source');
  const before = there.fingerprint();
  t.equal(await reasonOf(mirrors.acceptHostKey(viewer, id, `ED25519 ${before}`)), 'no_offered_host_key');
  await there.changeHostKey();
  const after = there.fingerprint();
  t.not(after, before);
  const signedIn = there.log().split('Accepted publickey').length;
  await sync('source');
  t.match(await mirrorOf('source'), {
    state: 'host key changed',
    isPaused: true,
    failures: 1,
    lastError: /presents a host key that differs from the trusted one.*compare the fingerprints/,
    hostKeyFingerprint: `ED25519 ${before}`,
    offeredFingerprint: `ED25519 ${after}`,
  });
  t.equal(there.log().split('Accepted publickey').length, signedIn, 'nobody signs in at a host that is not trusted');
  t.equal(await mirrors.runDue(), 0, 'it is not tried again by itself');
  t.match(await save('source', { direction: 'push', address: `${there.url}/target.git` }), {
    isPaused: true,
    state: 'host key changed',
  });
  t.equal(await reasonOf(mirrors.acceptHostKey(viewer, id, `ED25519 ${before}`)), 'host_key_differs');
  t.equal(await reasonOf(mirrors.acceptHostKey(viewer, id, '')), 'host_key_differs');
  await mirrors.acceptHostKey(viewer, id, after);
  await mirrors.runDue();
  t.match(await mirrorOf('source'), {
    state: 'ok',
    hostKeyFingerprint: `ED25519 ${after}`,
    offeredFingerprint: null,
    lastError: null,
  });
  const accepted = here.log.filter(({ event }) => event === 'mirror.host_key_accepted');
  t.strictSame(
    accepted.map(({ repositoryId, fingerprint, by }) => [repositoryId, fingerprint, by]),
    [[id, `ED25519 ${after}`, alice.id]],
  );
});

t.test('a host that shows the trusted key again needs no acceptance', canTry, async (t) => {
  const id = await idOf('source');
  await here.modules.db.write(({ manager }) =>
    manager.query('UPDATE mirrors SET offered_host_key = ? WHERE repository_id = ?', ['ssh-ed25519 AAAA', id]),
  );
  await sync('source');
  t.match(await mirrorOf('source'), { state: 'ok', offeredFingerprint: null });
});

t.test('an import by ssh waits for its key, or comes at once with one that the remote knows', canTry, async (t) => {
  const { mirrors } = here.modules;
  const wanted = { visibility: 'PRIVATE', address: `${there.url}/tool.git`, keepMirroring: false } as const;
  await mirrors.import(viewer, { ...wanted, name: 'later' });
  t.match(await mirrorOf('later'), { state: 'waiting for key', intervalMs: null });
  there.allow((await mirrorOf('later')).sshPublicKey!);
  await mirrors.setPaused(viewer, await idOf('later'), false);
  await mirrors.runDue();
  t.equal(await mirrors.find(await idOf('later')), null, 'it is a repository like any other now');
  t.strictSame(await refsOf('later'), readRefs(path.join(there.folder, 'tool.git')));

  const folder = temporaryFolder(t);
  const { publicKey } = gitClient(folder);
  const sshKey = readFileSync(path.join(folder, 'client-key'), 'utf8');
  t.equal(await reasonOf(mirrors.import(viewer, { ...wanted, name: 'now', sshKey })), 'mirror_address_refused');
  t.equal(await reasonOf(found('now')), 'repository_not_found', 'nothing is made for a key that is not accepted');
  there.allow(publicKey.trim());
  await mirrors.import(viewer, { ...wanted, name: 'now', sshKey });
  await mirrors.runDue();
  t.strictSame(await refsOf('now'), readRefs(path.join(there.folder, 'tool.git')));
  const pkcs8 = createPrivateKey(
    generateKeyPairSync('ed25519', {
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey,
  );
  for (const bad of ['', 'nonsense', String(pkcs8.export({ type: 'pkcs8', format: 'pem' }))])
    t.equal(await reasonOf(mirrors.import(viewer, { ...wanted, name: 'bad', sshKey: bad })), 'invalid_ssh_key');
  t.strictSame(keyFolders(), []);
});

t.test(
  'a host that does not respond, and one that is not named, are refused before anything is stored',
  canTry,
  async (t) => {
    await make('guarded');
    const refusal = (more: Partial<MirrorInput>): Promise<string> =>
      save('guarded', more).then(
        () => 'taken',
        (error: { reason: string; message: string }) => `${error.reason}: ${error.message}`,
      );
    t.match(
      await refusal({ address: `ssh://git@127.0.0.1:${there.port + 1}/x.git` }),
      new RegExp(`^mirror_address_refused: Only https.*"127\\.0\\.0\\.1:${there.port + 1}"`),
    );
    t.match(await refusal({ secret: 'a password' }), /^invalid_mirror: .*cannot contain a password/);
    await there.stop();
    t.match(await refusal({}), /^mirror_address_refused: The SSH connection failed: Connection refused\.$/);
    await there.start();
    t.equal(await here.modules.mirrors.find(await idOf('guarded')), null);
    t.match(await refusal({}), 'taken');
    t.equal(await reasonOf(save('guarded', { address: 'ssh://-oProxyCommand=x/y' })), 'invalid_mirror');
  },
);

t.test('git connects to the address that was checked, whatever the name says by now', canTry, async (t) => {
  const folder = temporaryFolder(t);
  const { publicKey } = gitClient(folder);
  there.allow(publicKey.trim());
  const remote: SshRemote = {
    ssh: { user: there.user, host: 'nowhere.example.org', port: there.port, address: '127.0.0.1' },
    path: `${there.folder}/tool.git`,
    privateKey: readFileSync(path.join(folder, 'client-key'), 'utf8'),
    hostKey: there.hostKey(),
  };
  const { refs } = await here.modules.git.remotes.list(remote);
  t.strictSame([...refs.keys()], ['refs/heads/main', 'refs/tags/v1']);
  const { address: _, ...rest } = remote.ssh;
  for (const ssh of [
    { ...remote.ssh, host: '-oProxyCommand=touch' },
    { ...remote.ssh, user: '-oProxyCommand=touch' },
    { ...remote.ssh, user: 'a b' },
    { ...rest, address: 'nowhere.example.org' },
    { ...rest, address: '127.0.0.1 -oProxyCommand=x' },
  ])
    t.equal(await reasonOf(here.modules.git.remotes.list({ ...remote, ssh })), 'internal', JSON.stringify(ssh));
});

t.test('configuration, agents and known hosts of this machine play no part', canTry, async (t) => {
  const folder = temporaryFolder(t);
  const { publicKey } = gitClient(folder);
  there.allow(publicKey.trim());
  const marker = path.join(folder, 'ran');
  // The program stands for ssh and writes down what it was called with.
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'ssh'), `#!/bin/sh\nprintf '%s\\n' "$@" > '${marker}'\nenv >> '${marker}'\nexit 255\n`, {
    mode: 0o755,
  });
  const git = await createGit({ config: here.config, logger: silentLogger, searchPath: `${bin}:${process.env.PATH}` });
  await reasonOf(
    git.remotes.list({
      ssh: { user: there.user, host: 'git.lan', port: 2222, address: '127.0.0.1' },
      path: '/x.git',
      privateKey: 'key',
      hostKey: there.hostKey(),
    }),
  );
  const lines = readFileSync(marker, 'utf8').split('\n');
  t.strictSame(lines.slice(0, 3), ['-F', 'none', '-T']);
  for (const option of [
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    'UserKnownHostsFile=known_hosts',
    'GlobalKnownHostsFile=/dev/null',
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    'ProxyCommand=none',
    'ProxyJump=none',
    'HostName=127.0.0.1',
    'HostKeyAlias=[git.lan]:2222',
    'PermitLocalCommand=no',
    'ClearAllForwardings=yes',
  ])
    t.ok(lines.includes(option), option);
  t.notOk(
    lines.some((line) => line.startsWith('SSH_')),
    'nothing of the agent that started the server',
  );
});

t.test('without an ssh program the refusal says what to install', canTry, async (t) => {
  const bin = path.join(temporaryFolder(t), 'bin');
  mkdirSync(bin);
  const git = await createGit({
    config: { ...here.config, git: { ...here.config.git, program: '/usr/bin/git' } },
    logger: silentLogger,
    searchPath: bin,
  });
  const refusal = await git.remotes
    .hostKeyOf({ user: 'git', host: 'git.lan', port: 22, address: '127.0.0.1' })
    .catch((error: unknown) => error);
  t.match(refusal, { reason: 'ssh_client_missing', message: /ssh program is not installed.*openssh-client/ });
});

t.test('keys that a killed server has left are gone after the next start', canTry, async (t) => {
  const run = path.join(here.config.dataDir, 'run', 'git');
  // No process has this number.
  for (const name of ['ssh-99999999-abcdef', `ssh-${process.ppid}-abcdef`]) {
    mkdirSync(path.join(run, name));
    writeFileSync(path.join(run, name, 'key'), 'x');
  }
  await here.stop();
  here = await startHearth(t, { folder: here.folder, env: { SERVICE_MIRRORS_ALLOWED_HOSTS: there.host } });
  t.strictSame(keyFolders(), [`ssh-${process.ppid}-abcdef`], 'those of a command that still runs stay');
});
