// time limit: 300 s
// Jobs whose logs are followed while they grow, by runners that trust every acknowledgement as Forgejo's does:
// `rows = rows[ack - offset:]` panics when more is acknowledged than was sent. HEARTH_FOLLOWED_JOBS says how many jobs.
import { open } from 'node:fs/promises';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { framings, startForge } from './rpc-fixture.ts';
import type { Forge } from './rpc-fixture.ts';
import type { RunnerClient } from './runner-client.ts';
import { expectSession } from '../fixtures/expect-session.ts';

const jobCount = Number(process.env['HEARTH_FOLLOWED_JOBS'] ?? 50);
/** Runners that run a job at the same time. */
const runnerCount = 5;
const followersPerJob = 3;

/**
 * Gives followers the time to look between the moment when bytes are in a file and the moment when the writer knows.
 */
async function slowWrites(folder: string, ms: number): Promise<() => void> {
  const handle = await open(folder, 'r');
  const prototype = Object.getPrototypeOf(handle) as { write(...args: unknown[]): Promise<unknown> };
  await handle.close();
  const { write } = prototype;
  prototype.write = async function (this: unknown, ...args: unknown[]) {
    const result = await write.apply(this as never, args);
    await sleep(ms);
    return result;
  };
  return () => void (prototype.write = write);
}

/** A follower of one job, as a browser: it goes on where it was, each time the connection ends. */
function followLive(forge: Forge, session: string, job: number) {
  const numbers: number[] = [];
  let lastId = '0';
  let text = '';
  let hasEnded = false;
  let current: ReturnType<typeof request> | null = null;
  const once = (): Promise<void> =>
    new Promise((resolve) => {
      const sent = request(
        `${forge.url}/repos/alice/work/runs/1/jobs/${job}/live?from=0`,
        { headers: { Cookie: `hearth_session=${session}`, 'Last-Event-ID': lastId }, agent: false },
        (response) => {
          text = '';
          response.on('data', (chunk: Buffer) => {
            text += chunk.toString();
            const events = text.split('\n\n');
            text = events.pop()!;
            for (const event of events) {
              lastId = /^id: (\d+)$/m.exec(event)?.[1] ?? lastId;
              for (const [, n] of event.matchAll(/printed (\d+) of/g)) numbers.push(Number(n));
              if (event.startsWith('event: end')) {
                hasEnded = true;
                sent.destroy();
              }
            }
          });
          response.on('error', () => {});
        },
      );
      current = sent;
      sent.on('error', () => {});
      sent.on('close', () => resolve());
      sent.end();
    });
  return {
    numbers,
    /** The connection breaks; the next one follows at once. */
    drop: () => current?.destroy(),
    ended: (async () => {
      while (!hasEnded) await once();
    })(),
  };
}

/** One job as Forgejo's runner does it: prints, reports what its buffer holds, and forgets what is acknowledged. */
async function work(
  runner: RunnerClient,
  id: bigint,
  rows: number,
  random: ReturnType<typeof seededRandom>,
  drop: () => void,
) {
  let buffer: { time: { seconds: bigint; nanos: number }; content: string }[] = [];
  let offset = 0n;
  let printed = 0;
  const report = async (noMore: boolean): Promise<void> => {
    const { ackIndex: ack } = await runner.updateLog({ taskId: id, index: offset, rows: buffer, noMore });
    if (ack < offset) throw new Error('submitted logs are lost');
    const cut = Number(ack - offset);
    if (cut > buffer.length) throw new Error(`panic: slice bounds out of range [${cut}:${buffer.length}]`);
    buffer = buffer.slice(cut);
    offset = ack;
  };
  while (printed < rows) {
    for (let n = 1 + random.below(12); n > 0 && printed < rows; n -= 1, printed += 1)
      buffer.push({
        time: { seconds: BigInt(1_767_225_600 + printed), nanos: 0 },
        content: `printed ${printed} of ${id}`,
      });
    if (random.below(3) === 0) drop();
    await report(false);
  }
  await report(true);
  if (buffer.length > 0) throw new Error(`${buffer.length} rows were never acknowledged`);
  await runner.updateTask({ state: { id, result: 1 } });
}

t.test(`${jobCount} jobs with ${followersPerJob} followers each: no runner is lost, no row either`, async (t) => {
  const forge = await startForge(t);
  t.teardown(await slowWrites(forge.folder, 8));
  const random = seededRandom(jobCount);
  const rows = 60;
  const numbers = Array.from({ length: jobCount }, (_, at) => at).join(', ');
  const sessions = await Promise.all(
    Array.from({ length: followersPerJob * 2 }, async () => {
      const { username, password } = forge.alice;
      return (
        await expectSession(
          forge.modules.accounts.signIn({ username, password, address: '127.0.0.1', userAgent: 'test' }),
        )
      ).secret;
    }),
  );
  const open = Object.values(framings(forge));
  const runners: (RunnerClient & { close?(): void })[] = [];
  // One after the other: each of them asks for a new registration token.
  for (let at = 0; at < runnerCount; at += 1) runners.push(open[at % open.length]!(await forge.register(['linux'])));
  await forge.push({
    '.hearth/workflows/many.yml': `on: push\njobs:\n  a:\n    runs-on: linux\n    strategy: {fail-fast: false, matrix: {n: [${numbers}]}}\n    steps: [{run: echo}]\n`,
  });

  /** Every job waits for a runner already: a call that comes back without one came too early. */
  const fetch = async (runner: RunnerClient): Promise<{ id: bigint }> => {
    for (;;) {
      const { task } = await runner.fetchTask({}, { timeoutMs: 60_000 });
      if (task !== undefined) return task;
    }
  };
  /** Jobs that a runner has, or waits for. */
  let promised = 0;
  const followed: { id: bigint; numbers: number[] }[] = [];
  await Promise.all(
    runners.map(async (runner, at) => {
      while (promised < jobCount) {
        promised += 1;
        const task = await fetch(runner);
        const { rows: jobs } = await forge.state();
        const job = jobs.find(({ taskId }) => BigInt(taskId ?? 0) === task.id)!;
        const followers = Array.from({ length: followersPerJob }, (_, n) =>
          followLive(forge, sessions[(n * 2 + at) % sessions.length]!, job.id),
        );
        await work(runner, task.id, rows, random, () => followers[random.below(followersPerJob)]!.drop());
        for (const { ended, numbers: got } of followers) {
          await ended;
          followed.push({ id: task.id, numbers: got });
        }
      }
    }),
  );
  for (const runner of runners) runner.close?.();
  const { run, rows: jobs } = await forge.state();
  t.equal(run, 'success');
  t.equal(jobs.length, jobCount);
  const all = Array.from({ length: rows }, (_, at) => at);
  for (const { taskId } of jobs) {
    const { total, rows: stored } = await forge.modules.ci.logs.read(taskId!, 0, rows + 1);
    t.equal(total, rows);
    t.strictSame(
      stored.map(({ content }) => content),
      all.map((n) => `printed ${n} of ${taskId}`),
    );
  }
  t.equal(followed.length, jobCount * followersPerJob);
  t.strictSame(
    followed.filter(({ numbers: got }) => got.join() !== all.join()),
    [],
    'each follower read every row once, in order',
  );
});
