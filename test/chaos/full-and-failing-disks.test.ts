// time limit: 300 s
// Real disks that are full, turn read-only, or fail to sync. As root, on Linux, where there are loop devices and
// strace.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { gitClient } from '../e2e/git-client.ts';
import { programs, startServerProcess } from '../e2e/server-process.ts';
import type { ServerProcess } from '../e2e/server-process.ts';
import { requiredProgram } from '../fixtures/required-program.ts';
import { hasFaultInjection, hasLoopDevices, loopDeviceDisk } from './loop-device-disk.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

for (const name of ['strace', 'mkfs.ext4']) requiredProgram(name);
const rounds = Number(process.env['HEARTH_CHAOS'] ?? 1);

/** Alice, her repository, and pushes whose acknowledgements are recorded. */
async function pusher(server: ServerProcess, command: (...words: string[]) => Promise<string>) {
  await command('user', 'add', 'alice', '--random-password', '--admin');
  const token = (await command('token', 'add', '--user', 'alice', '--name', 'laptop', '--access', 'write')).trim();
  await command('repo', 'create', 'alice/site', '--public');
  const client = gitClient(server.folder);
  const work = path.join(server.folder, 'work');
  mkdirSync(work);
  await client.expect(work, 'init', '-q', '-b', 'main');
  let acknowledged = '';
  return {
    acknowledged: () => acknowledged,
    /** Uploads an object of Git LFS; returns the status of the answer. */
    async putObject(to: ServerProcess, content: Buffer): Promise<number> {
      const oid = createHash('sha256').update(content).digest('hex');
      const url = `${to.url}/git/alice/site.git/info/lfs/objects/${oid}`;
      const headers = { Authorization: `Bearer ${token}` };
      return (await fetch(url, { method: 'PUT', headers, body: new Uint8Array(content) })).status;
    },
    /** Pushes one commit with this many random bytes; returns whether the server accepted it. */
    async push(to: ServerProcess, bytes: number, text = 'more') {
      writeFileSync(path.join(work, 'file'), randomBytes(bytes));
      await client.expect(work, 'add', '.');
      await client.expect(work, 'commit', '-q', '--allow-empty', '-m', text);
      const response = await client.run(
        work,
        'push',
        '-q',
        `http://${token}@${new URL(to.url).host}/git/alice/site.git`,
        'main',
      );
      if (response.code === 0) acknowledged = await client.expect(work, 'rev-parse', 'HEAD');
      return response;
    },
    /** Whether all acknowledged commits are served intact. */
    async isThere(at: ServerProcess) {
      const [tip = ''] = (
        await client.expect(work, 'ls-remote', `${at.url}/git/alice/site.git`, 'refs/heads/main')
      ).split('\t');
      await client.expect(work, 'fetch', '-q', '--refetch', `${at.url}/git/alice/site.git`, 'main');
      await client.expect(work, 'merge-base', '--is-ancestor', acknowledged, tip);
      return true;
    },
  };
}

const program = programs.either;

if (hasLoopDevices) {
  t.test(`a completely full disk: refusals, reads, and recovery without a restart (${rounds})`, async (t) => {
    const disk = await loopDeviceDisk(t, 48);
    const server = await disk.serve();
    const { push, putObject, isThere } = await pusher(server, (...words) =>
      disk.inside(server, program, ...words, '--data-dir', server.dataDir),
    );
    t.equal((await push(server, 1_000)).code, 0);
    const object = randomBytes(300_000);
    for (let round = 0; round < rounds; round += 1) {
      const filler = path.join(server.dataDir, 'tmp-filler');
      await disk.inside(server, 'sh', '-c', `dd if=/dev/zero of='${filler}' bs=4k 2>/dev/null || true`);
      t.not((await push(server, 200_000, `full ${round}`)).code, 0, 'refused');
      t.equal(await putObject(server, object), 507, 'no object of LFS');
      t.equal((await fetch(`${server.url}/repos/alice/site`)).status, 200, 'pages are read');
      t.ok(await isThere(server), 'and repositories');
      await disk.inside(server, 'rm', filler);
      let response = await push(server, 1_000, `free ${round}`);
      // Temporary files of the full disk may still be removed in the background.
      for (let turn = 0; turn < 50 && response.code !== 0; turn += 1) {
        await sleep(200);
        response = await push(server, 1_000, `free ${round}`);
      }
      t.equal(response.code, 0, `as before, without a restart: ${response.stderr}`);
      t.equal(await putObject(server, object), 200);
      t.ok(await isThere(server));
    }
    t.equal(await server.stop(), 0, 'it never ended by itself');
  });

  t.test(
    `a disk that turns read-only right after an acknowledged push: reads or a clean end, nothing lost (${rounds})`,
    async (t) => {
      const disk = await loopDeviceDisk(t, 64);
      let server = await disk.serve();
      const { push, isThere } = await pusher(server, (...words) =>
        disk.inside(server, program, ...words, '--data-dir', server.dataDir),
      );
      const reads = async () =>
        (await fetch(`${server.url}/repos/alice/site`)).status === 200 &&
        /not ready: storage/.test(await (await fetch(`${server.url}/readyz`)).text());
      for (let round = 0; round < rounds; round += 1) {
        t.equal((await push(server, 1_000, `before ${round}`)).code, 0);
        // At once: what is acknowledged must be on the disk already.
        await disk.breakDown(server);
        const before = await reads().catch(() => null);
        t.not((await push(server, 1_000, `broken ${round}`)).code, 0, 'nothing is acknowledged');
        const after = await reads().catch(() => null);
        // A sync in progress failed, so written data cannot be trusted: then the server exits with 1.
        if (before !== null && after !== null)
          t.same([before, after], [true, true], 'pages are read, and /readyz says why nothing is written');
        else t.equal(await server.ended, 1, 'a clean end');
        await server.kill();
        await disk.repair();
        server = await disk.serve();
        t.ok(await isThere(server), 'all that was acknowledged');
      }
    },
  );
}

if (hasFaultInjection) {
  t.test(
    `every fsync fails: nothing is acknowledged, the server exits with 1, nothing is lost (${rounds})`,
    async (t) => {
      let server = await startServerProcess(t, 'either');
      const { push, isThere } = await pusher(server, server.command);
      for (let round = 0; round < rounds; round += 1) {
        t.equal((await push(server, 1_000, `before ${round}`)).code, 0);
        const tracer = spawn(
          'strace',
          ['-f', '-p', String(server.pid), '-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:error=EIO'],
          { stdio: ['ignore', 'ignore', 'pipe'] },
        );
        t.teardown(() => tracer.kill('SIGKILL'));
        let output = '';
        tracer.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
        await waitUntil(() => /attached/.test(output) || tracer.exitCode !== null);
        t.not((await push(server, 1_000, `unsynced ${round}`)).code, 0, 'not acknowledged');
        t.equal(await Promise.race([server.ended, sleep(30_000).then(() => 'hangs')]), 1);
        t.match(output, /INJECTED/);
        server = await startServerProcess(t, 'either', { folder: server.folder });
        t.ok(await isThere(server));
        t.equal((await push(server, 1_000, `after ${round}`)).code, 0);
      }
    },
  );
}

for (const [what, isThere] of [
  ['own disks, by root and loop devices', hasLoopDevices],
  ['failing system calls, by root and strace', hasFaultInjection],
] as const)
  t.test(what, { skip: !isThere && 'this system lets no test do that' }, async (t) => void t.ok(isThere));
