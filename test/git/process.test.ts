import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import path from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { createGit } from '../../src/git/index.ts';
import { busy, chargeCpuTime, createSemaphore } from '../../src/kernel/index.ts';
import { cachedVersion } from '../../src/git/processes/cached-version.ts';
import { createGitRunner } from '../../src/git/processes/git-runner.ts';
import { createSocketPairs } from '../../src/git/spawner/socket-pairs.ts';
import { createSpawner } from '../../src/git/spawner/spawner.ts';
import { readVersion } from '../../src/git/processes/version.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { errorWithReason, gitConfig, openGit, processesBelow, recordingLogger } from './git-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

/** Where children are started: by this process, or by the spawner. */
type Place = 'here' | 'apart';

/** A git runner whose program is a shell script, to see exactly what a child gets and how it exits. */
async function scriptRunner(t: Owner, script: string, place: Place = 'here') {
  const folder = temporaryFolder(t);
  const program = path.join(folder, 'git');
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  const { logger, log } = recordingLogger();
  const settings = {
    environment: { PATH: '/usr/bin:/bin', ONLY: 'this' },
    home: folder,
    file: path.join(folder, 'config'),
  };
  const pairs = await createSocketPairs(folder, logger);
  const spawner = createSpawner(pairs, logger);
  const runner = createGitRunner(program, settings, logger, (launch) => spawner.launch(launch));
  t.teardown(async () => {
    await runner.close(0);
    spawner.close();
    pairs.close();
  });
  if (place === 'apart') {
    spawner.begin();
    await waitUntil(() => spawner.isReady(), 'the spawner');
  }
  return { runner, folder, log, spawner };
}

/** The same test in both places. */
function both(name: string, test: (t: Test, place: Place) => Promise<void>): void {
  for (const place of ['here', 'apart'] as const) void t.test(`${name} (${place})`, (t) => test(t, place));
}

t.test('a git that ended in time is not late, however long this process was busy', async (t) => {
  const { runner } = await scriptRunner(t, 'echo done');
  const { pid, exited, stdout } = runner.start({ argv: [], timeLimitMs: 30 });
  const output: Buffer[] = [];
  stdout!.on('data', (bytes: Buffer) => output.push(bytes));
  const begin = performance.now();
  const ended = () => /^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (!ended() || performance.now() < begin + 100) Atomics.wait(pause, 0, 0, 5);
  t.strictSame(await exited, { code: 0, stoppedBy: null });
  t.equal(Buffer.concat(output).toString(), 'done\n');
});

both('SECURITY A03, A04: a child gets our environment and nothing else', async (t, place) => {
  process.env.HEARTH_LEAK = 'secret';
  t.teardown(() => delete process.env.HEARTH_LEAK);
  const { runner } = await scriptRunner(t, 'tr "\\0" "\\n" < /proc/$$/environ; pwd; readlink /proc/self/fd/0', place);
  const environment = (output: Buffer) =>
    output
      .toString()
      .split('\n')
      .filter((line) => line.includes('='))
      .sort();
  const run = async (protocol?: string) =>
    environment((await runner.run({ argv: [], timeLimitMs: 5_000, protocol }, 10_000)).output);
  t.same(await run(), ['ONLY=this', 'PATH=/usr/bin:/bin']);
  t.same(await run('version=2'), ['GIT_PROTOCOL=version=2', 'ONLY=this', 'PATH=/usr/bin:/bin']);
  for (const bad of ['version=3', 'version=2:x', ' version=2', 'version=2\n', '$(id)', '']) {
    t.same(await run(bad), ['ONLY=this', 'PATH=/usr/bin:/bin'], JSON.stringify(bad));
  }
});

both('what git costs is charged to the caller, in processor time and not the clock’s', async (t, place) => {
  const { runner } = await scriptRunner(
    t,
    'if [ "$1" = wait ]; then exec sleep 0.4; fi; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done',
    place,
  );
  const costOf = async (word: string) => {
    let cost = 0;
    await chargeCpuTime(
      (ms) => (cost += ms),
      () => runner.run({ argv: [word], timeLimitMs: 20_000 }, 1_000),
    );
    return cost;
  };
  await runner.run({ argv: ['work'], timeLimitMs: 20_000 }, 1_000);
  const [waiting, working] = [await costOf('wait'), await costOf('work')];
  t.ok(waiting <= 50, `${waiting} ms for a wait, beside what nobody paid for`);
  t.ok(working >= 50, `${working} ms for work`);
});

t.test('SECURITY A03, A04: git uses the settings that were written', async (t) => {
  const { git, folder, newRepository } = await openGit(t, { limits: { maxPushBytes: 12_345 } });
  const repository = await newRepository();
  const text = readFileSync(path.join(folder, 'data', 'run', 'git', 'config'), 'utf8');
  for (const line of [
    'fsync = committed,reference',
    'fsyncMethod = fsync',
    'bigFileThreshold = 16m',
    'alternateRefsCommand = /bin/false',
    'fsckObjects = true',
    'maxInputSize = 12345',
    'advertisePushOptions = true',
    'autogc = false',
    'unpackLimit = 1',
    'hideRefs = refs/hearth',
    'hideRefs = refs/replace',
    'allowAnySHA1InWant = false',
    'allowFilter = true',
    'bareRepository = explicit',
    'threads = 1',
    'windowMemory = 64m',
    'allow = never',
  ])
    t.match(text, `\t${line}\n`);
  t.match(
    (await git.transfers.advertiseRefs({ path: repository, service: 'receive-pack' })).toString(),
    /push-options/,
  );
  t.match(
    (await git.transfers.advertiseRefs({ path: repository, service: 'upload-pack', protocol: 'version=2' })).toString(),
    /filter/,
  );
});

t.test('a data folder may have any name', async (t) => {
  const folder = path.join(temporaryFolder(t), 'a "quoted" \\ näme # ;');
  mkdirSync(folder);
  const git = await createGit({ config: gitConfig(folder), logger: recordingLogger().logger });
  t.teardown(() => git.stop(0));
  const repository = git.storage.pathOf('00000000-0000-4000-8000-000000000000', '00000000-0000-4000-8000-000000000001');
  await git.storage.create(repository, { defaultBranch: 'trunk' });
  t.same(await git.refs.head(repository), { branch: 'trunk', oid: null });
});

t.test('git is found, and refused when it is too old or something else', async (t) => {
  const folder = temporaryFolder(t);
  const { logger } = recordingLogger();
  const start = (program: string) =>
    createGit({ config: gitConfig(folder, program), logger, searchPath: `${folder}:relative` });
  await t.rejects(start('git'), errorWithReason('git_missing'));
  const program = path.join(folder, 'git');
  const responses = (text: string) => {
    writeFileSync(program, `#!/bin/sh\necho '${text}'\n`);
    chmodSync(program, 0o755);
  };
  responses('git version 2.38.9');
  await t.rejects(start('git'), { reason: 'git_too_old', message: /2\.39 or newer.*2\.38\.9/ });
  responses('svn 1.14');
  await t.rejects(start(program), errorWithReason('git_missing'));
  t.match(readVersion('git version 2.50.1 (Apple Git-155)\n', 'git'), {
    major: 2,
    minor: 50,
    patch: 1,
    text: '2.50.1',
  });
  t.match(readVersion('git version 3.0.rc1\n', 'git'), { major: 3, minor: 0, patch: 0 });
});

t.test('git is started for its version once per program', async (t) => {
  const folder = temporaryFolder(t);
  const program = path.join(folder, 'git');
  let calls = 0;
  const getVersion = (response = 'git version 2.40.1') =>
    cachedVersion(
      program,
      folder,
      async () => ((calls += 1), response),
      (output) => readVersion(output, program).text,
    );
  writeFileSync(program, '\x7fELF one');
  await t.rejects(getVersion('git version 2.38.9'), errorWithReason('git_too_old'));
  t.same(
    [await getVersion(), await getVersion(), calls],
    ['2.40.1', '2.40.1', 2],
    'what is refused is asked again, what is kept is not',
  );
  writeFileSync(program, '\x7fELF number two');
  t.same(
    [await getVersion('git version 2.41.0'), await getVersion(), calls],
    ['2.41.0', '2.41.0', 3],
    'another program',
  );
  const cache = path.join(folder, 'git-version.json');
  const { identity } = JSON.parse(readFileSync(cache, 'utf8')) as { identity: string };
  calls = 0;
  for (const content of [
    '{"ide',
    'null',
    '[]',
    '7',
    JSON.stringify({ identity, answer: 'git version 2.39.0' }),
    JSON.stringify({ identity, output: null }),
    JSON.stringify({ identity, output: ['git version 2.39.0'] }),
    JSON.stringify({ identity, output: '' }),
    JSON.stringify({ identity, output: 'svn 1.14' }),
    JSON.stringify({ identity, output: 'git version 2.38.9' }),
  ]) {
    writeFileSync(cache, content);
    calls = 0;
    t.same([await getVersion(), await getVersion(), calls], ['2.40.1', '2.40.1', 1], `not usable: ${content}`);
  }
  calls = 4;
  writeFileSync(path.join(folder, 'version'), JSON.stringify({ identity, output: 'git version 2.39.0' }));
  t.same(
    [await getVersion(), existsSync(path.join(folder, 'version'))],
    ['2.40.1', false],
    'the file of older programs',
  );
  writeFileSync(program, '#!/bin/sh\nexec other-git "$@"\n');
  await getVersion();
  t.same([await getVersion('git version 2.42.0'), calls], ['2.42.0', 6], 'a script may lead to any');
});

both('a child that takes too long, or says too much, is ended with its helpers', async (t, place) => {
  const { runner, folder } = await scriptRunner(
    t,
    'case "$1" in slow) sleep 60 & sleep 60;; loud) yes;; deaf) trap "" TERM; yes > /dev/null;; esac',
    place,
  );
  await t.rejects(runner.run({ argv: ['slow'], timeLimitMs: 100 }, 1_000), { code: 'internal' });
  await t.rejects(runner.run({ argv: ['loud'], timeLimitMs: 10_000 }, 1_000), { code: 'internal' });
  t.same(await processesBelow(folder), [], 'nothing is left');
  t.equal(runner.running(), 0);
});

both('SECURITY I12: nothing is left when a client leaves', async (t, place) => {
  const { runner, folder } = await scriptRunner(t, 'sleep 61 & sleep 61', place);
  const gone = new AbortController();
  const child = runner.start({ argv: [], timeLimitMs: 60_000, signal: gone.signal });
  await waitUntil(async () => (await processesBelow(folder)).length >= 3);
  gone.abort();
  t.match(await child.exited, { code: null, stoppedBy: 'aborted' });
  await waitUntil(async () => (await processesBelow(folder)).length === 0);
  t.pass('the whole group has ended');
});

both('output that nobody reads does not keep a child that was ended', async (t, place) => {
  const { runner } = await scriptRunner(t, 'yes', place);
  const child = runner.start({ argv: [], timeLimitMs: 60_000 });
  await sleep(50);
  child.stop('stalled');
  t.match(await child.exited, { stoppedBy: 'stalled' });
});

both('a stop lets children finish, then ends them, and starts no more', async (t, place) => {
  const { runner, log } = await scriptRunner(
    t,
    'if [ "$1" = quick ]; then sleep 0.2; echo done; else sleep 60; fi',
    place,
  );
  const quick = runner.run({ argv: ['quick'], timeLimitMs: 5_000 }, 100);
  const slow = runner.start({ argv: ['slow'], timeLimitMs: 60_000 });
  await Promise.all([
    runner.close(600),
    quick.then(({ output }) => t.equal(output.toString(), 'done\n')),
    slow.exited.then((exit) => t.match(exit, { stoppedBy: 'shutdown' })),
  ]);
  t.throws(() => runner.start({ argv: [], timeLimitMs: 1 }), errorWithReason('stopping'));
  t.match(log, [{ event: 'git.stopped', reason: 'shutdown' }]);
});

t.test('a child of the spawner gets its input from the server, which reads its output and stderr', async (t) => {
  const script = 'case "$1" in parent) echo $PPID;; echo) cat; echo "$2" >&2; exit 3;; sleep) sleep 60;; esac';
  const { runner, spawner, folder, log } = await scriptRunner(t, script, 'apart');
  const parent = async () => Number((await runner.run({ argv: ['parent'], timeLimitMs: 5_000 }, 100)).output);
  const first = await parent();
  t.not(first, process.pid);

  const echo = runner.start({ argv: ['echo', 'last words'], timeLimitMs: 5_000, takesInput: true });
  const sent = Buffer.alloc(3_000_000, 'all of it, in order. ');
  echo.stdin!.end(sent);
  const chunks: Buffer[] = [];
  for await (const chunk of echo.stdout!) chunks.push(chunk as Buffer);
  t.same(await echo.exited, { code: 3, stoppedBy: null });
  t.ok(Buffer.concat(chunks).equals(sent));
  t.equal(echo.stderrText(), 'last words\n');

  const file = openSync(path.join(folder, 'output'), 'wx+');
  unlinkSync(path.join(folder, 'output'));
  const toFile = runner.start({ argv: ['echo', ''], timeLimitMs: 5_000, takesInput: true, output: file });
  toFile.stdin!.end('into a file without a name');
  await toFile.exited;
  t.equal(readFileSync(file, 'utf8'), 'into a file without a name');
  closeSync(file);

  const many = Array.from({ length: 40 }, (_, at) =>
    runner.run({ argv: ['echo', String(at)], timeLimitMs: 20_000 }, 100),
  );
  for (const [at, one] of (await Promise.all(many)).entries())
    t.equal(one.errorText, `${at}\n`, 'with or without a connection ready');

  await waitUntil(() => spawner.isReady());
  const lost = runner.start({ argv: ['sleep'], timeLimitMs: 60_000 });
  await waitUntil(() => lost.pid !== 0);
  process.kill(first, 'SIGKILL');
  t.same(await lost.exited, { code: null, stoppedBy: null }, 'nobody knows how it ended, but it has');
  t.equal(await parent(), process.pid, 'meanwhile this process does it');
  await waitUntil(() => spawner.isReady(), 'another spawner');
  t.not(await parent(), process.pid);
  t.match(
    log.filter(({ event }) => event === 'git.spawner_ended'),
    [{ signal: 'SIGKILL' }],
  );
});

t.test('the spawner exits with the server, however that exits, and not before', async (t) => {
  const { runner, spawner } = await scriptRunner(t, 'echo $PPID', 'apart');
  const id = Number((await runner.run({ argv: [], timeLimitMs: 5_000 }, 100)).output);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(id, name);
  await sleep(50);
  t.equal(Number((await runner.run({ argv: [], timeLimitMs: 5_000 }, 100)).output), id);
  spawner.close();
  await waitUntil(() => !existsSync(`/proc/${id}`), 'its end');
  t.pass('it ends when nobody speaks to it any more');
});

t.test('a program that cannot be started causes a refusal, not a crash', async (t) => {
  const { logger } = recordingLogger();
  const folder = temporaryFolder(t);
  const runner = createGitRunner(path.join(folder, 'absent'), { environment: {}, home: folder, file: '' }, logger);
  t.throws(() => runner.start({ argv: [], timeLimitMs: 1_000 }), errorWithReason('git_busy'));
  t.equal(runner.running(), 0);
});

const rules = {
  limit: 3,
  limitPerKey: { repository: 2, client: 2 },
  queue: 2,
  waitMs: 50,
  refusal: busy('git_busy', 'The server is busy.', 5),
};
const isTaken = async (slot: Promise<unknown>) => Promise.race([slot.then(() => true), sleep(5, false)]);

t.test('slots: a busy repository does not block the others', async (t) => {
  const slots = createSemaphore({ ...rules, waitMs: 5_000 });
  const first = await slots.acquire({ repository: 'a' });
  await slots.acquire({ repository: 'a' });
  const third = slots.acquire({ repository: 'a' });
  t.notOk(await isTaken(third), 'the third of one repository waits');
  const other = await slots.acquire({ repository: 'b' });
  t.same([slots.held(), slots.waiting()], [3, 1]);
  const fourth = slots.acquire({ repository: 'c' });
  other();
  t.ok(await isTaken(fourth), 'a place goes to whom it fits, past the one who waits longer');
  first();
  first();
  t.ok(await isTaken(third), 'and the one who waited comes next');
  t.equal(slots.held(), 3, 'giving back twice counts once');
});

t.test('slots: one client gets its share; a full queue and a long wait are refused with Retry-After', async (t) => {
  const slots = createSemaphore(rules);
  const release = await slots.acquire({ repository: 'a', client: 'x' });
  await slots.acquire({ repository: 'b', client: 'x' });
  const waiting = [slots.acquire({ repository: 'c', client: 'x' }), slots.acquire({ repository: 'd', client: 'x' })];
  await t.rejects(slots.acquire({ repository: 'e', client: 'x' }), {
    code: 'unavailable',
    reason: 'git_busy',
    retryAfterSeconds: 5,
  });
  await slots.acquire({ repository: 'e', client: 'y' });
  for (const wait of waiting) await t.rejects(wait, errorWithReason('git_busy'));
  t.same([slots.held(), slots.waiting()], [3, 0]);
  t.match(slots.statistics(), { admitted: 3, refusedFull: 1, refusedLate: 2 });
  t.ok(slots.statistics().waitedSeconds > 0);
  release();
  t.equal(slots.held(), 2);
});

t.test('slots: a client that leaves the queue frees its place', async (t) => {
  const slots = createSemaphore({ ...rules, limit: 1, waitMs: 5_000 });
  const release = await slots.acquire({ repository: 'a' });
  const gone = new AbortController();
  const waiting = slots.acquire({ repository: 'b' }, gone.signal);
  gone.abort(new Error('left'));
  await t.rejects(waiting, { message: 'left' });
  await t.rejects(slots.acquire({ repository: 'b' }, gone.signal), { message: 'left' });
  release();
  t.same([slots.held(), slots.waiting()], [0, 0]);
});
