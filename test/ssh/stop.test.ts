import t from 'tap';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runGit } from '../fixtures/git-repositories.ts';
import { startSsh } from './ssh-fixture.ts';
import type { SshFixture } from './ssh-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

/** A server on which looking for a repository waits until `goOn`. */
async function startWaiting(t: Parameters<typeof startSsh>[0]) {
  const hearth = await startSsh(t);
  const alice = await hearth.person('alice');
  const { repositories } = hearth.modules;
  await repositories.create(alice.viewer, { name: 'site', visibility: 'PRIVATE' });
  const work = path.join(hearth.work, 'site');
  mkdirSync(work);
  await runGit(['init', '-q', '-b', 'main'], { cwd: work });
  writeFileSync(path.join(work, 'data'), randomBytes(3_000_000));
  await runGit(['add', '.'], { cwd: work });
  await runGit(['commit', '-qm', 'Data'], { cwd: work });
  const { openGitForRead, openGitForPush } = repositories;
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  let waiting = 0;
  const wait = () => {
    waiting += 1;
    return gate;
  };
  repositories.openGitForRead = async (...args) => (await wait(), openGitForRead(...args));
  repositories.openGitForPush = async (...args) => (await wait(), openGitForPush(...args));
  const git = (...args: string[]) => hearth.git(args, { keys: [alice.key], cwd: work });
  return { hearth, alice, git, goOn: () => goOn(), isWaiting: () => waitUntil(() => waiting > 0) };
}

t.test('a push that runs when the server stops completes; idle connections are closed at once', async (t) => {
  const { hearth, alice, git, goOn, isWaiting } = await startWaiting(t);
  const push = git('push', '--quiet', hearth.url('alice/site'), 'main');
  await isWaiting();
  const idle = await hearth.client(t, { privateKey: alice.key.privateKey });
  const idleClosed = new Promise<void>((resolve) => idle.once('close', () => resolve()));
  const silent = hearth.socket(t);
  await waitUntil(() => silent.received().length > 0);

  let isStopped = false;
  const stopped = hearth.stop(20_000).then(() => (isStopped = true));
  await Promise.all([idleClosed, silent.closed]);
  await isRefused(t, hearth);
  t.notOk(isStopped);
  goOn();
  t.match(await push, { code: 0 });
  await stopped;
});

t.test('what is not done after the grace period is aborted', async (t) => {
  const { hearth, git, isWaiting } = await startWaiting(t);
  const clone = git('clone', '--quiet', hearth.url('alice/site'), 'never');
  await isWaiting();
  const startedAt = performance.now();
  await hearth.stop(200);
  t.ok(performance.now() - startedAt < 5_000);
  t.match(await clone, { code: 128 });
});

t.test('an address in use is refused with a message', async (t) => {
  const hearth = await startSsh(t);
  await t.rejects(startSsh(t, { env: { SERVICE_SSH_LISTEN: `127.0.0.1:${hearth.port}` } }), {
    code: 'unavailable',
    reason: 'ssh_address_unavailable',
    message: new RegExp(`Cannot listen for SSH on 127.0.0.1:${hearth.port}: .*EADDRINUSE`),
  });
});

async function isRefused(
  t: Parameters<SshFixture['socket']>[0] & { equal(a: unknown, b: unknown): void },
  hearth: SshFixture,
): Promise<void> {
  const { socket, closed } = hearth.socket(t);
  await closed;
  t.equal(socket.bytesRead, 0);
}
