// time limit: 300 s
// A merge queue whose server is killed: pull requests that three people add at once, some of them red, and one gets a
// new round meanwhile. The branch holds exactly the green ones in their order, each tip was tested by a client of the
// runner protocol, and each is told once. HEARTH_CHAOS: twenty pull requests, and as many kills as it says.
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { connectClient } from '../http-runner/runner-client.ts';
import { startCrashFixture } from './crash-recovery-fixture.ts';
import type { CrashFixture } from './crash-recovery-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const chaos = process.env['HEARTH_CHAOS'];
const kills = chaos === undefined ? 1 : Number(chaos);
const count = chaos === undefined ? 6 : 20;
const redOnes = chaos === undefined ? [2] : [3, 8, 9, 17];
const pushedOne = chaos === undefined ? 4 : 12;
t.setTimeout(180_000 + kills * 60_000);

const workflow = 'name: Queue\non: [merge_group]\njobs:\n  test:\n    runs-on: linux\n    steps: [{ run: ls }]\n';
const people = ['alice', 'bob', 'carol'] as const;

interface Tested {
  sha: string;
  number: number;
  isGreen: boolean;
}

/** A runner that judges a merge by the number of its pull request, and outlives the server. */
async function startRunner(fixture: CrashFixture, isRed: (number: number) => boolean) {
  const token = (await fixture.command('runner', 'token')).trim().split(/\s+/).at(-1)!;
  const { runner } = await connectClient(fixture.url()).register({
    name: 'builder',
    token,
    labels: ['linux'],
    version: 'v1',
  });
  const tested = new Map<string, Tested>();
  const stop = new AbortController();
  let key = 1;
  const client = () =>
    connectClient(fixture.url(), {
      headers: {
        'x-runner-uuid': runner.uuid,
        'x-runner-token': runner.token,
        'x-runner-request-key': `request ${key}`,
      },
    });
  /** The same call until a server answers it. */
  async function insist<T>(call: () => Promise<T>): Promise<T | null> {
    while (!stop.signal.aborted) {
      try {
        return await call();
      } catch {
        await sleep(100);
      }
    }
    return null;
  }
  async function work(): Promise<void> {
    while (!stop.signal.aborted) {
      const fetched = await insist(() =>
        client().fetchTask({ tasksVersion: 0n }, { timeoutMs: 1_000, signal: stop.signal }),
      );
      const task = fetched?.task;
      if (!task) continue;
      const context = task.context.fields ?? task.context;
      const word = (name: string): string => context[name]?.kind?.value ?? context[name];
      const number = Number(/^refs\/pull\/(\d+)\/merge$/.exec(word('ref'))![1]);
      const isGreen = !isRed(number);
      tested.set(word('sha'), { sha: word('sha'), number, isGreen });
      const state = {
        id: task.id,
        result: isGreen ? 1 : 2,
        stoppedAt: { seconds: BigInt(Math.floor(Date.now() / 1000)) },
      };
      await insist(() => client().updateLog({ taskId: task.id, index: 0n, rows: [], noMore: true }));
      await insist(() => client().updateTask({ state }));
      key += 1;
    }
  }
  const done = work();
  return {
    tested,
    async stop() {
      stop.abort();
      await done;
    },
  };
}

t.test('exactly the green ones, in order, each as it was tested', async (t) => {
  const fixture = await startCrashFixture(t);
  await fixture.addPerson('carol');
  for (const name of ['bob', 'carol'])
    await fixture.expect('alice', 'POST', 'collaborators', { username: name, role: 'write' });
  const first = fixture.commit(await fixture.tip('main'), { '.github/workflows/queue.yml': workflow }, 'Test merges');
  t.ok(await fixture.push('alice', `${first}:refs/heads/main`));
  await fixture.expect('alice', 'POST', 'branch_protections', { rule_name: 'main', merge_queue: true });
  const pulls: Awaited<ReturnType<CrashFixture['openPull']>>[] = [];
  for (let at = 1; at <= count; at += 1) pulls.push(await fixture.openPull(`file-${at}`, 'main'));
  const red = new Set(redOnes.map((at) => pulls[at - 1]!.number));
  const runner = await startRunner(fixture, (number) => red.has(number));
  t.teardown(() => runner.stop());

  // The first that is killed may or may not have taken an answer with it: asked again, it is in the queue already.
  const enter = async (at: number): Promise<void> => {
    const who = people[at % people.length]!;
    const { number } = pulls[at]!;
    for (let tries = 0; tries < 60; tries += 1) {
      const { status, text } = await fixture
        .api(who, 'POST', `pulls/${number}/queue`, {})
        .catch(() => ({ status: 0, text: '' }));
      if (status === 204 || text.includes('in_queue') || text.includes('merge_blocked')) return;
      await sleep(100);
    }
    throw new Error(`pull request ${number} does not enter the queue`);
  };
  const entering = Promise.all(pulls.map((_, at) => enter(at)));
  await entering;
  const pushed = pulls[pushedOne - 1]!;
  const again = fixture.commit(first, { [pushed.file]: 'otherwise\n' }, 'Add it otherwise');
  const isPushed = await fixture.push('alice', `+${again}:refs/heads/${pushed.file}`);
  for (let kill = 0; kill < kills; kill += 1) {
    await sleep(300 + Math.floor(Math.random() * 1_500));
    await fixture.kill();
    await fixture.startAgain();
  }
  await waitUntil(() => fixture.query('SELECT count(*) AS n FROM pull_queue')[0]!['n'] === 0, 'the queue is empty');
  await waitUntil(fixture.isSettled, 'everything is announced');

  const left = fixture.query(
    `SELECT i.number, e.kind, i.state FROM issue_entries e JOIN issues i ON i.id = e.issue_id
     WHERE e.kind IN ('merged', 'unqueued') ORDER BY i.number`,
  );
  t.equal(left.length, count, 'each is told once how it ended');
  t.equal(new Set(left.map(({ number }) => number)).size, count);
  const merged = left.filter(({ kind }) => kind === 'merged').map(({ number }) => Number(number));
  const green = pulls.map(({ number }) => number).filter((number) => !red.has(number));
  const expected =
    isPushed && !merged.includes(pushed.number) ? green.filter((number) => number !== pushed.number) : green;
  t.same(merged, expected, 'exactly the green ones');

  const tips = (await fixture.inside('log', '--first-parent', '--format=%H', `${first}..refs/heads/main`))
    .trim()
    .split('\n');
  const landed = tips.reverse().map((sha) => runner.tested.get(sha));
  t.ok(
    landed.every((one) => one?.isGreen === true),
    'each tip was tested, and green',
  );
  const queued = fixture.query(
    `SELECT i.number FROM issue_entries e JOIN issues i ON i.id = e.issue_id WHERE e.kind = 'queued'
     ORDER BY e.created_at, e.rowid`,
  );
  const order = [...new Set(queued.map(({ number }) => Number(number)))].filter((number) => merged.includes(number));
  t.same(
    landed.map((one) => one?.number),
    order,
    'in the order in which they came',
  );
  const twice = fixture.query(
    `SELECT subject, user_id, count(*) AS n FROM notifications GROUP BY subject, user_id HAVING count(*) > 1`,
  );
  t.same(twice, [], 'one row a person');
  // alice has opened all of them, and has pushed one herself; who added one is told, too.
  const subjectsOf = (who: string): number[] =>
    fixture
      .query(
        `SELECT i.number FROM notifications n JOIN issues i ON n.subject = 'issue:' || i.id
         JOIN users u ON u.id = n.user_id WHERE u.username = ? ORDER BY i.number`,
        who,
      )
      .map(({ number }) => Number(number));
  const ended = pulls.map(({ number }) => number);
  t.same(
    subjectsOf('alice').filter((number) => number !== pushed.number),
    ended.filter((number) => number !== pushed.number),
  );
  for (const who of ['bob', 'carol'])
    t.same(
      subjectsOf(who),
      ended.filter((_, at) => people[at % people.length] === who),
      `${who} of those that they added`,
    );
  await runner.stop();
  await fixture.stop();
});
