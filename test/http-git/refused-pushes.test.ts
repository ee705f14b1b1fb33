// A refused push ends: whatever is refused, however large report and pack are, and however the client sends them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statfsSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { anonymousIdentity } from '../../src/http/context.ts';
import { createGitHandlers } from '../../src/http-git/index.ts';
import type { GitHttpDeps } from '../../src/http-git/deps.ts';
import { gitSync } from '../git/git-fixture.ts';
import { addRefs, branchCount, branchName, createLargePush, pushWithin } from '../git/large-push-fixture.ts';
import { packOf, pushBytes, readResponse, zeroId } from '../git/push-fixture.ts';
import { refusals } from '../git/refusals-fixture.ts';
import type { Refusal } from '../git/refusals-fixture.ts';
import { startGitServer } from './git-server.ts';
import type { GitServer } from './git-server.ts';

t.setTimeout(600_000);
const { work, tip } = createLargePush(t);
const server = await startGitServer(t);
await server.newRepository('work');
const branches = 'refs/heads/*:refs/heads/*';

/** Two ways of stock git: a probe, then the rest in chunks; or all of it at once with its length. */
const buffers = { 'in chunks, behind a probe': '65536', 'at once': '100000000' };

async function refsOf(name: string): Promise<number> {
  return (await server.app.modules.git.refs.list(await server.pathOf(name))).size;
}

function refused({ name, options = [], refspecs = [branches], says, prepare }: Refusal, on: GitServer = server) {
  return t.test(name, async (t) => {
    const undo = await prepare?.(on.app.modules, 'work');
    const specs = options.includes('--atomic') ? [branches, ...refspecs] : refspecs;
    for (const [way, bytes] of Object.entries(buffers)) {
      const args = ['-c', `http.postBuffer=${bytes}`, 'push', ...options, on.url('work', on.tokens.alice), ...specs];
      const { code, stderr } = await pushWithin(args, { cwd: work });
      t.equal(code, 1, `${way}: it ends`);
      t.match(stderr, says, way);
    }
    await undo?.();
    t.equal((await on.app.modules.git.refs.list(await on.pathOf('work'))).size, 0, 'nothing of it landed');
    t.equal(on.app.modules.git.load().writes.running, 0);
  });
}

for (const refusal of refusals) void refused(refusal);

const largestFloor = 1024 ** 4;
const { bavail, bsize } = statfsSync(tmpdir());
if (bavail * bsize < largestFloor) {
  const lowDisk = await startGitServer(t, { SERVICE_STORAGE_LOW_DISK_FLOOR: '1TiB' });
  await lowDisk.newRepository('work');
  void refused({ name: 'too little disk space', says: /low on disk space/ }, lowDisk);
}

const fewObjects = await startGitServer(t, { SERVICE_GIT_MAX_PUSH_OBJECTS: '1000' });
await fewObjects.newRepository('work');
void refused({ name: 'too many objects', says: /at most 1000 objects/ }, fewObjects);

const smallPushes = await startGitServer(t, { SERVICE_GIT_MAX_PUSH_SIZE: '1MiB' });
await smallPushes.newRepository('work');
void refused({ name: 'git gives up on the pack', says: /unpacker error/ }, smallPushes);

const commands = Array.from({ length: branchCount }, (_, n) => `${zeroId} ${tip} refs/pull/x${branchName(n)}`);
const body = pushBytes({ commands, pack: packOf(work, 'main') });
const target = '/git/alice/work.git/git-receive-pack';
const headers = {
  authorization: `Bearer ${server.tokens.alice}`,
  'content-type': 'application/x-git-receive-pack-request',
};

t.test('a compressed request, and one that waits for "100 Continue"', async (t) => {
  const postPack = async (more: Record<string, string>, bytes: Buffer) => {
    const post = request({ port: server.port, path: target, method: 'POST', headers: { ...headers, ...more } });
    if (more.expect === undefined) post.end(bytes);
    else post.on('continue', () => post.end(bytes)).flushHeaders();
    const [response] = await once(post, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return readResponse(Buffer.concat(chunks)).report.length;
  };
  t.equal(await postPack({ 'content-encoding': 'gzip' }, gzipSync(body)), branchCount + 2);
  t.equal(await postPack({ expect: '100-continue' }, body), branchCount + 2);
});

t.test('curl, which gives no pack before the 100 Continue', async (t) => {
  const file = path.join(server.folder, 'body');
  writeFileSync(file, body);
  const lines = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  for (const more of [
    ['-H', 'Expect: 100-continue'],
    ['-H', 'Expect:', '-H', 'Transfer-Encoding: chunked'],
  ]) {
    const args = ['-sS', '--max-time', '100', ...more, ...lines, '--data-binary', `@${file}`, server.origin + target];
    const curl = spawn('curl', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const chunks: Buffer[] = [];
    curl.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    const [code] = await once(curl, 'close');
    t.equal(code, 0);
    t.equal(readResponse(Buffer.concat(chunks)).report.length, branchCount + 2);
  }
});

t.test('a client that goes on with a request that has its response is left', async (t) => {
  const modules = {
    repositories: {
      openGitForPush: async () => ({ path: '/nowhere' }),
      pushes: { receive: async (_: unknown, { output }: { output: Writable }) => void output.write('answered') },
    },
    logger: silentLogger,
  } as unknown as GitHttpDeps;
  const { receivePack } = createGitHandlers(modules);
  const params = { owner: 'alice', name: 'work' };
  const listener = createServer((req, res) => {
    const state = { requestId: 'r', address: '127.0.0.1', routePath: target, identity: anonymousIdentity };
    const rest = { rest: '', querystring: '', origin: () => '', challenge: '', headers: [] };
    void receivePack({ req, res, params, state, ...rest });
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => listener.close());
  const socket = connect((listener.address() as AddressInfo).port, '127.0.0.1');
  let responded = '';
  socket.setEncoding('latin1').on('data', (text: string) => (responded += text));
  socket.on('error', () => {});
  socket.write(
    `POST ${target} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Type: ${headers['content-type']}\r\n\r\n`,
  );
  const dripping = setInterval(() => socket.write('1\r\nx\r\n'), 20);
  await new Promise((resolve) => socket.on('close', resolve));
  clearInterval(dripping);
  t.match(responded, /^HTTP\/1\.1 200 [^]*answered/);
});

t.test('a mirror of another forge lands branches, tags and notes, and ends by itself', async (t) => {
  const url = await server.newRepository('mirror');
  const mirror = path.join(server.folder, 'mirror.git');
  gitSync(['clone', '--quiet', '--bare', '--single-branch', work, mirror]);
  const pulls = Array.from({ length: 3_277 }, (_, n) => `refs/pull/${n + 1}/head`);
  const others = ['refs/tags/v1', 'refs/notes/commits', 'refs/keep-around/1'];
  addRefs(mirror, tip, [...pulls, ...others]);
  const { code, stderr } = await pushWithin(['-c', 'http.postBuffer=65536', 'push', '--mirror', url], { cwd: mirror });
  t.equal(code, 1, 'git tells that something was left out');
  t.match(stderr, /remote: 3,277 refs under refs\/pull\/ were left out: they are the server's own/);
  t.match(stderr, /refs\/pull\/3277\/head \(reserved for the server\)/);
  t.match(stderr, /refs\/keep-around\/1 \(only refs\/heads\//);
  t.equal(await refsOf('mirror'), 1 + 2);

  addRefs(mirror, tip, ['refs/changes/01/1/1', 'refs/changes/01/1/meta', 'refs/meta/config']);
  const gerrit = ['push', url, 'refs/changes/*:refs/changes/*', 'refs/meta/*:refs/meta/*'];
  t.match(
    (await pushWithin(gerrit, { cwd: mirror })).stderr,
    /does not take Gerrit's refs; its settings can allow them/,
  );
  await server.app.modules.repositories.edit(localAdministrator, 'alice', 'mirror', { acceptsGerritRefs: true });
  t.equal((await pushWithin(gerrit, { cwd: mirror })).code, 0);
  t.equal(await refsOf('mirror'), 1 + 2 + 3);
});
