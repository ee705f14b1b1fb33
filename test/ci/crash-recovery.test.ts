// Runners execute jobs while the server is killed again and again: every job runs once, no acknowledged row of a log
// is lost. Sixteen jobs, five runners and two kills here; HEARTH_CI_JOBS=1000 HEARTH_CI_RUNNERS=50 HEARTH_CI_KILLS=6
// for the long run.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { freePort } from '../fixtures/free-port.ts';
import { startServerProcess } from '../e2e/server-process.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { rowsOf } from '../http-runner/rpc-fixture.ts';
import { connectClient, grpcClient } from '../http-runner/runner-client.ts';
import type { RunnerClient } from '../http-runner/runner-client.ts';

const jobs = Number(process.env['HEARTH_CI_JOBS'] ?? 16);
const runners = Number(process.env['HEARTH_CI_RUNNERS'] ?? 5);
const kills = Number(process.env['HEARTH_CI_KILLS'] ?? 2);
const matrixJobs = Math.min(jobs, 50);

t.setTimeout(60_000 + jobs * 2_000 + kills * 90_000);

const random = seededRandom(7);

/** What runners did, as they saw it themselves. */
interface Done {
  /** Executions of each job, by run and matrix combination. */
  begun: Map<string, number>;
  /** Rows that the server has acknowledged, by task. */
  rows: Map<bigint, string[]>;
  finished: number;
  /** Calls that failed because the server was down. */
  retries: number;
  /** A check failed: stop retrying. */
  isGivenUp: boolean;
}

/** Retries until it works: the server may be down for a while. Permanent refusals are not retried. */
async function insist<T>(done: Done, call: () => Promise<T>): Promise<T> {
  while (!done.isGivenUp) {
    try {
      return await call();
    } catch (error) {
      const { code } = error as { code?: number };
      // Not found, already there, unauthenticated, wrong: no outage gives these.
      if ([3, 5, 6, 7, 16].includes(code ?? 0)) throw error;
      done.retries += 1;
      await sleep(50 + random.below(100));
    }
  }
  throw new Error('the test has ended');
}

/**
 * One runner as the stock ones are: rows in batches with overlaps, reports in between, the log before the last report.
 */
async function work(
  client: RunnerClient,
  number: number,
  headers: Record<string, string>,
  done: Done,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    // The newest runners repeat the same request when their call was cut off; for others the server takes the task
    // back after a minute.
    if (jobs < 100 || number % 2 === 0)
      headers['x-runner-request-key'] = `${number} ${done.finished} ${random.below(1e9)}`;
    const { task } = await insist(done, () => client.fetchTask({}, { timeoutMs: 4_000 }));
    if (task === undefined) continue;
    const key = `${task.context.run_number} ${/shard:\s+- (\d+)/.exec(Buffer.from(task.workflowPayload).toString())?.[1]}`;
    done.begun.set(key, (done.begun.get(key) ?? 0) + 1);
    const started = { seconds: 1_767_225_600n };
    await insist(done, () =>
      client.updateTask({ state: { id: task.id, startedAt: started, steps: [{ id: 0n, startedAt: started }] } }),
    );
    const lines = Array.from(
      { length: 20 + random.below(60) },
      (_, at) => `task ${task.id} runner ${number} row ${at}`,
    );
    for (
      let acknowledged = 0, index = 0;
      acknowledged < lines.length;
      index = Math.max(0, acknowledged - random.below(3))
    ) {
      const batch = lines.slice(index, index + 4 + random.below(20));
      const { ackIndex } = await insist(done, () =>
        client.updateLog({ taskId: task.id, index: BigInt(index), rows: rowsOf(...batch) }),
      );
      if (Number(ackIndex) < acknowledged)
        throw new Error(`task ${task.id}: ${acknowledged} rows were acknowledged, and now ${ackIndex}`);
      acknowledged = Number(ackIndex);
      done.rows.set(task.id, lines.slice(0, acknowledged));
    }
    await insist(done, () =>
      client.updateLog({ taskId: task.id, index: BigInt(lines.length), rows: [], noMore: true }),
    );
    const response = await insist(done, () =>
      client.updateTask({ state: { id: task.id, result: 1 }, outputs: { combination: key } }),
    );
    if (response.state.result !== 1) throw new Error(`task ${task.id} ended as ${response.state.result}`);
    done.finished += 1;
  }
}

t.test(
  `${jobs} jobs, ${runners} runners, ${kills} kills: each job runs once, no acknowledged row is lost`,
  async (t) => {
    const port = await freePort();
    const env = { SERVICE_HTTP_LISTEN: `127.0.0.1:${port}` };
    let server = await startServerProcess(t, 'either', { env });
    const { folder, url, dataDir } = server;
    await server.command('user', 'add', 'alice', '--random-password');
    const token = await server.command('token', 'add', '--user', 'alice', '--name', 'x', '--access', 'write');
    await server.command('repo', 'create', 'alice/site');
    const registration = await server.command('runner', 'token');

    const done: Done = { begun: new Map(), rows: new Map(), finished: 0, retries: 0, isGivenUp: false };
    t.teardown(() => void (done.isGivenUp = true));
    let isOver = false;
    const open: { close?(): void }[] = [];
    const working: Promise<void>[] = [];
    for (let number = 0; number < runners; number += 1) {
      const { runner } = await connectClient(url).register({
        name: `runner-${number}`,
        token: registration,
        labels: ['linux'],
        capabilities: ['cancelling'],
      });
      const headers: Record<string, string> = { 'x-runner-uuid': runner.uuid, 'x-runner-token': runner.token };
      const client =
        number % 3 === 0
          ? grpcClient(new URL(url).host, { headers })
          : connectClient(url, { headers, json: number % 3 === 2 });
      open.push(client as { close?(): void });
      working.push(work(client, number, headers, done, () => isOver));
    }
    const failed = Promise.all(working);
    const orFail = async (isDone: () => boolean): Promise<void> => {
      while (!isDone()) await Promise.race([sleep(20), failed.then(() => sleep(20))]);
    };

    const clone = path.join(folder, 'work');
    mkdirSync(path.join(clone, '.hearth/workflows'), { recursive: true });
    const combination = Array.from({ length: matrixJobs }, (_, at) => at).join(', ');
    writeFileSync(
      path.join(clone, '.hearth/workflows/ci.yml'),
      `on: push\njobs:\n  build:\n    runs-on: linux\n    strategy: {fail-fast: false, matrix: {shard: [${combination}]}}\n    steps: [{run: make}]\n`,
    );
    await runGit(['init', '--quiet', '-b', 'main'], { cwd: clone });
    await runGit(['add', '.'], { cwd: clone });
    const pushes = Math.ceil(jobs / matrixJobs);
    const total = pushes * matrixJobs;
    const pushing = (async () => {
      for (let number = 0; number < pushes; number += 1) {
        await runGit(['commit', '--quiet', '--allow-empty', '-m', `Change ${number}`], { cwd: clone });
        const push = () =>
          runGit(['push', '--quiet', `http://x:${token}@${new URL(url).host}/git/alice/site.git`, 'main'], {
            cwd: clone,
          });
        for (
          let tries = 0;
          !(await push().then(
            () => true,
            () => false,
          ));
          tries += 1
        ) {
          if (tries > 100) throw new Error('the push did not get through');
          await sleep(200);
        }
      }
    })();

    for (let kill = 1; kill <= kills; kill += 1) {
      const enough = Math.floor((total * kill) / (kills + 1));
      await orFail(() => done.finished >= enough);
      await sleep(random.below(100));
      await server.kill();
      server = await startServerProcess(t, 'either', { folder, env });
    }
    await pushing;
    await orFail(() => done.finished >= total);
    isOver = true;
    await failed;
    for (const client of open) client.close?.();
    await server.stop();

    t.equal(done.begun.size, total, 'every job was worked on');
    t.same(
      [...done.begun].filter(([, times]) => times !== 1),
      [],
      'and none twice',
    );
    const database = new DatabaseSync(path.join(dataDir, 'hearth.db'), { readOnly: true });
    t.teardown(() => database.close());
    const count = (sql: string) => (database.prepare(sql).get() as { n: number }).n;
    t.equal(count("SELECT count(*) AS n FROM ci_jobs WHERE status = 'success'"), total);
    t.equal(
      count("SELECT count(*) AS n FROM ci_tasks WHERE status = 'success' AND sealed_at IS NOT NULL"),
      total,
      'each job has one task that ended well',
    );
    t.equal(count("SELECT count(*) AS n FROM ci_runs WHERE status = 'success'"), pushes);
    t.equal(count('SELECT count(*) AS n FROM ci_outputs'), total);
    const wrong = [...done.rows].filter(([id, lines]) => {
      const file = path.join(dataDir, 'ci/logs', String(id / 1000n), `${id}.log`);
      const stored = readFileSync(file, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => line.slice(29));
      return JSON.stringify(stored) !== JSON.stringify(lines);
    });
    t.same(
      wrong.map(([id]) => id),
      [],
      'every log is what was acknowledged, row by row',
    );
    t.comment(
      `${done.retries} calls found nobody; ${[...done.rows.values()].reduce((sum, lines) => sum + lines.length, 0)} rows`,
    );
  },
);
