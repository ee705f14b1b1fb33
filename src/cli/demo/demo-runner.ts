import { callerOf } from './call-demo.ts';
import type { Answer, Caller } from './call-demo.ts';

const results = { success: 1, failure: 2 } as const;

/** Log lines of the demo's runner for a job; the check of the pull request fails. */
function outcomeOf(job: string, isPullRequest: boolean): { log: string[]; result: number } {
  if (job === 'lint' && isPullRequest)
    return {
      log: ['$ npm run lint', 'src/forecast.ts:5:9 lint/suspicious/noAwait', 'Found 1 error.', 'exit status 1'],
      result: results.failure,
    };
  const log =
    job === 'test'
      ? ['$ npm test', '✔ a dry day', '✔ a wet day', '2 tests passed']
      : ['$ npm run lint', 'Checked 6 files.'];
  return { log, result: results.success };
}

/** The clock of a demo: it advances by itself, and `pass` skips time. */
export interface DemoTime {
  now(): number;
  pass(ms: number): void;
}

export interface DemoRunner {
  /** Runs what is queued, until these commits have a run and all runs have ended. */
  runJobs(commits: ReadonlySet<string>): Promise<void>;
}

/** Simulates a runner of alice/garden over the runner protocol (Connect with JSON). */
export async function registerRunner(alice: Caller, url: string, time: DemoTime): Promise<DemoRunner> {
  const { token } = await alice.api('POST', '/repos/alice/garden/actions/runners/registration-token');
  const labels = ['linux'];
  const first = await rpc(alice, 'Register', { name: 'shed', token, version: '1.0.0', labels, agentLabels: labels });
  const headers = { 'x-runner-uuid': first.runner.uuid as string, 'x-runner-token': first.runner.token as string };
  const runner = callerOf(url, 'none');
  await rpc(runner, 'Declare', { version: '1.0.0', labels }, headers);
  return {
    async runJobs(commits) {
      for (let count = 0; count < 60 && (await hasUnfinished(alice, commits)); count += 1) {
        const { task } = await rpc(runner, 'FetchTask', { tasksVersion: '0' }, headers);
        if (task != null) await finish(runner, task, headers, time);
      }
    },
  };
}

/** Whether runs are queued, or expected: a run begins shortly after its push or pull request. */
async function hasUnfinished(alice: Caller, commits: ReadonlySet<string>): Promise<boolean> {
  const { workflow_runs: runs } = await alice.api('GET', '/repos/alice/garden/actions/runs?limit=50');
  const pulls = (await alice.api('GET', '/repos/alice/garden/pulls?state=all')) as unknown as unknown[];
  const found = runs as { status: string; event: string; head_sha: string }[];
  const withRun = new Set(found.map(({ head_sha: sha }) => sha));
  return (
    found.some(({ status }) => status !== 'completed') ||
    [...commits].some((sha) => !withRun.has(sha)) ||
    found.filter(({ event }) => event === 'pull_request').length < pulls.length
  );
}

async function finish(runner: Caller, task: Answer, headers: Record<string, string>, time: DemoTime): Promise<void> {
  const { log, result } = outcomeOf(String(task.context?.job), task.context?.event_name === 'pull_request');
  const startedAt = new Date(time.now()).toISOString();
  time.pass(log.length * 4_000);
  const stoppedAt = new Date(time.now()).toISOString();
  const rows = log.map((content) => ({ time: stoppedAt, content }));
  await rpc(runner, 'UpdateLog', { taskId: task.id, index: '0', rows, noMore: true }, headers);
  const state = { id: task.id, result, startedAt, stoppedAt, steps: [] };
  await rpc(runner, 'UpdateTask', { state }, headers);
}

const rpc = (caller: Caller, method: string, body: object, headers: Record<string, string> = {}, timeoutMs = 10_000) =>
  caller.send('POST', `/api/actions/runner.v1.RunnerService/${method}`, JSON.stringify(body), {
    'content-type': 'application/json',
    'connect-protocol-version': '1',
    'connect-timeout-ms': String(timeoutMs),
    ...headers,
  });
