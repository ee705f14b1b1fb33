/**
 * A push to a repository that ten thousand follow on a hundred servers, of which ten are dead: five take connections
 * and never answer, five take none. Measured on the running program: when the last of the living servers has it, and
 * the processor time of the whole program for each delivery; in every second push, whose processor time is not counted,
 * another process asks `/healthz` every 10 ms. Beside it `git push` to a repository with followers and to one without,
 * in turns.
 * usage: bench/followers [--rounds N] [--pushes N] [--followers N] [--executable PATH]
 *
 * Deliveries start when the queue is looked at, every ten seconds; that wait is told apart from the deliveries. The
 * receiving servers run in a process of their own on the same cores.
 */
import { execFileSync, fork } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { askHealth } from './ask-health.ts';
import { formatRow, formatSpread, median, readNumberOption } from './harness.ts';
import { startHearthServer } from './hearth-server.ts';
import { cpuMsOfThreads } from './process-usage.ts';
import { fillRepository } from './sample-history.ts';

const hosts = Array.from({ length: 100 }, (_, index) => `127.0.1.${index + 1}`);
const silent = new Set(hosts.slice(90, 95));

/** Answers each request with 202, and none at the silent addresses. */
function serveAsPeers(): void {
  const response = Buffer.from('HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n');
  const server = createServer((socket) => {
    let pending: Buffer = Buffer.alloc(0);
    socket.on('error', () => {});
    if (silent.has(socket.localAddress ?? '')) return void socket.resume();
    socket.on('data', (chunk: Buffer) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      for (;;) {
        const end = pending.indexOf('\r\n\r\n');
        if (end === -1) return;
        const length = /content-length: (\d+)/i.exec(pending.toString('latin1', 0, end));
        const whole = end + 4 + Number(length?.[1] ?? 0);
        if (pending.length < whole) return;
        pending = pending.subarray(whole);
        socket.write(response);
      }
    });
  });
  server.listen(0, '0.0.0.0', () => process.send!((server.address() as AddressInfo).port));
}

if (process.argv[2] === 'peers') serveAsPeers();
else await measure();

async function measure(): Promise<void> {
  const followers = readNumberOption('followers', 10_000);
  const rounds = readNumberOption('rounds', 3);
  const pushes = readNumberOption('pushes', 25);
  const peers = fork(import.meta.filename, ['peers']);
  const port = await new Promise<number>((resolve) => peers.once('message', (message) => resolve(Number(message))));
  const hearth = await startHearthServer({
    SERVICE_FEDERATION_ENABLED: 'true',
    SERVICE_FEDERATION_BASE_URL: 'http://127.0.0.1:9',
    SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true',
    SERVICE_FEDERATION_PEER_ALLOWLIST: hosts.join(','),
  });
  process.once('exit', () => (peers.kill(), hearth.kill()));
  await fillRepository(hearth.repository);
  await hearth.run('repo', 'create', 'alice/quiet', '--public');
  const database = new DatabaseSync(path.join(hearth.folder, 'data/hearth.db'), { timeout: 30_000 });
  database
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?), h (i, host) AS
         (SELECT i, '127.0.1.' || (1 + i % 100) || CASE WHEN i % 100 < 95 THEN ':${port}' ELSE ':9' END FROM n)
       INSERT INTO repository_followers (repository_id, actor_id, inbox, host, follow_id, created_at)
       SELECT r.id, 'http://' || host || '/u/' || i, 'http://' || host || '/u/' || i || '/inbox', host, 'f' || i, 1
         FROM h JOIN repositories r ON r.name = 'bench'`,
    )
    .run(followers);
  const number = (sql: string): number => Number(Object.values(database.prepare(sql).get() ?? {})[0] ?? 0);

  const work = path.join(hearth.folder, 'work');
  execFileSync('git', ['clone', '-q', '--depth', '1', `file://${hearth.repository}`, work]);
  const branch = execFileSync('git', ['-C', work, 'symbolic-ref', '--short', 'HEAD']).toString().trim();
  let commits = 0;
  function push(repository: string): number {
    const person = ['-c', 'user.name=Alice', '-c', 'user.email=alice@example.org'];
    execFileSync('git', [...person, '-C', work, 'commit', '-q', '--allow-empty', '-m', `Change ${commits++}`]);
    const header = ['-c', `http.extraHeader=Authorization: Bearer ${hearth.token}`];
    const url = `${hearth.url}/git/alice/${repository}.git`;
    const startedAt = performance.now();
    execFileSync('git', ['-C', work, ...header, 'push', '-q', url, `HEAD:refs/heads/${branch}`], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return performance.now() - startedAt;
  }
  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await wait(20);
  }
  const announced = () => until(() => number('SELECT count(*) FROM pushes WHERE announced_at IS NULL') === 0);
  /** As if nothing had been sent, and no server were known to be dead. */
  async function forget(): Promise<void> {
    await announced();
    await until(() => number(`SELECT count(*) FROM federation_delivery WHERE locked_until > ${Date.now()}`) === 0);
    database.exec('DELETE FROM federation_delivery; UPDATE federation_peers SET retry_at = 0, failures = 0');
  }

  // A shallow clone's first push brings history along.
  execFileSync('git', ['-C', work, 'fetch', '-q', '--unshallow']);
  for (const repository of ['bench', 'quiet']) push(repository);
  const living = followers * 0.9;
  const flood: { waitS: number; servedS: number; cpuMs: number | null; times: number[] }[] = [];
  for (let round = 0; round <= 2 * rounds; round += 1) {
    await forget();
    const health = round % 2 === 1 ? askHealth(hearth.url) : null;
    await wait(300);
    push('bench');
    const pushedAt = performance.now();
    await announced();
    const cpuBefore = cpuMsOfThreads(hearth.pid);
    const done = () => number("SELECT count(*) FROM federation_delivery WHERE state = 'DELIVERED'");
    await until(() => done() > 0);
    const startedAt = performance.now();
    await until(() => done() >= living);
    const servedAt = performance.now();
    const cpuMs = health === null ? (cpuMsOfThreads(hearth.pid) - cpuBefore) / living : null;
    const times = (await health?.stop())?.times ?? [];
    // The first one makes the key, and compiles.
    if (round > 0)
      flood.push({ waitS: (startedAt - pushedAt) / 1000, servedS: (servedAt - startedAt) / 1000, cpuMs, times });
  }

  const ms: Record<string, number[]> = { bench: [], quiet: [] };
  for (let round = 0; round < pushes; round += 1)
    for (const repository of ['bench', 'quiet']) {
      await forget();
      ms[repository]!.push(push(repository));
    }
  const ratios = ms['bench']!.map((each, index) => each / ms['quiet']![index]!);

  const times = flood.flatMap((each) => each.times).sort((a, b) => a - b);
  const at = (share: number): string => times[Math.min(times.length - 1, Math.floor(times.length * share))]!.toFixed(1);
  const spread = (pick: (round: (typeof flood)[number]) => number, digits: number) =>
    formatSpread(flood.map(pick), digits);
  const rows: [string, string][] = [
    ['From the push to the first delivery, s', spread(({ waitS }) => waitS, 1)],
    [`From there to the last of ${living} on living servers, s`, spread(({ servedS }) => servedS, 1)],
    [
      'Processor time of the server for each, ms',
      formatSpread(
        flood.flatMap(({ cpuMs }) => cpuMs ?? []),
        3,
      ),
    ],
    [
      `\`/healthz\` meanwhile, ${times.length} requests, ms: p50 / p99 / longest`,
      `${at(0.5)} / ${at(0.99)} / ${at(1)}`,
    ],
    ['`git push` with followers, ms', formatSpread(ms['bench']!, 0)],
    ['`git push` without, in turns, ms', formatSpread(ms['quiet']!, 0)],
    ['Ratio of each pair, median', median(ratios).toFixed(3)],
  ];
  console.log(
    [
      formatRow([`${followers} followers on 100 servers, ten of them dead, ${2 * rounds} pushes`, '']),
      formatRow(['---', '---:']),
      ...rows.map(formatRow),
    ].join('\n'),
  );
  database.close();
  peers.kill();
  await hearth.stop();
  process.exit(0);
}
