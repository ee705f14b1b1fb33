// The timeline of a run, the comparison with another run, and waits in lists, on pages and in the API.
import t from 'tap';
import { driveRunner } from '../../ci/ci-fixture.ts';
import { extractMain, fillRepository, sendRequest, signedIn, startWeb } from '../../fixtures/web-fixture.ts';

t.setTimeout(240_000);

const file = `name: CI
on: workflow_dispatch
jobs:
  build: {runs-on: linux, steps: [{name: Fetch it, run: git}, {name: Make <it>, run: make}]}
  ship: {needs: build, runs-on: linux, steps: [{name: Ship, run: ship}]}
`;

const web = await startWeb(t);
const { ci, repositories } = web.modules;
const { clock } = web;
const alice = await signedIn(web, 'alice');
const bob = await signedIn(web, 'bob');
const B = '/repos/alice/kiln';
for (const [visitor, name, visibility] of [
  [alice, 'kiln', 'PUBLIC'],
  [bob, 'secret', 'PRIVATE'],
] as const)
  await visitor.post('/repos', { name, visibility });
const found = await repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
await fillRepository(t, found.path, { '.hearth/workflows/ci.yml': file });
const registration = await ci.runners.resetRegistrationToken({ kind: 'instance' }, null);
const registered = await ci.runners.register(registration, {
  name: 'builder',
  version: '1',
  labels: ['linux'],
  ephemeral: false,
  capabilities: [],
});
const runner = await driveRunner(web.modules, { uuid: registered.runner.uuid, token: registered.token });

/** Does the job that waits: it is taken after a while, and each step takes some seconds. */
async function work(waitedMs: number, steps: readonly number[], result: 'success' | 'failure' = 'success') {
  clock.advance(waitedMs);
  const { taskId } = (await runner.fetch())!;
  const startedAt = clock.now();
  let at = startedAt;
  const reports = steps.map((ms, id) => {
    const from = at;
    at += ms;
    return { id, result, startedAt: from, stoppedAt: at, logIndex: 0, logLength: 0 } as const;
  });
  clock.advance(at - startedAt);
  await runner.log(taskId, 0, ['done'], true);
  await runner.report(taskId, { result, startedAt, stoppedAt: at, steps: reports });
}

const start = () => alice.post(`${B}/runs`, { workflow: 'ci.yml', ref: 'main' });
const api = async (path: string) => {
  const { status, body } = await sendRequest(web, `/api/v1${B}/runs/${path}`);
  return { status, json: JSON.parse(body) as unknown };
};

await start();
await work(5_000, [1_000, 60_000]);
await work(2_000, [3_000]);
await start();
await work(0, [1_000, 90_000]);
await work(1_000, [2_000], 'failure');

t.test('the numbers of a run are on one axis', async (t) => {
  t.match(await api('1/timeline'), {
    status: 200,
    json: {
      attempt: 1,
      lengthMs: 71_000,
      jobs: [
        {
          name: 'build',
          status: 'success',
          waited: { fromMs: 0, toMs: 5_000 },
          ran: { fromMs: 5_000, toMs: 66_000 },
          steps: [
            { name: 'Fetch it', span: { fromMs: 5_000, toMs: 6_000 } },
            { name: 'Make <it>', span: { fromMs: 6_000, toMs: 66_000 } },
          ],
        },
        { name: 'ship', waited: { fromMs: 66_000, toMs: 68_000 }, ran: { fromMs: 68_000, toMs: 71_000 } },
      ],
    },
  });
  t.match(await api('1/timeline?attempt=2'), { status: 404 });
  t.match(await api('9/timeline'), { status: 404 });
});

t.test('two runs are compared job by job and step by step', async (t) => {
  t.match(await api('2/compare?with=1'), {
    status: 200,
    json: {
      before: 1,
      after: 2,
      jobs: [
        {
          name: 'build',
          beforeMs: 61_000,
          afterMs: 91_000,
          steps: [
            { name: 'Fetch it', beforeMs: 1_000, afterMs: 1_000 },
            { name: 'Make <it>', beforeMs: 60_000, afterMs: 90_000 },
          ],
        },
        { name: 'ship', beforeMs: 3_000, afterMs: 2_000 },
      ],
    },
  });
  t.match(await api('2/compare?with=9'), { status: 404 });
});

t.test('the page has bars, and the run before beside it, without a script', async (t) => {
  const page = extractMain(await sendRequest(web, `${B}/runs/2/timeline`));
  t.match(page, /Make &lt;it&gt;/);
  t.equal(page.match(/<rect /g)?.length, 6, 'one wait, two jobs, three steps');
  t.match(page, /<rect class="is-wait" x="968" y="1" width="11"/);
  t.match(page, /\+30 s/);
  t.match(page, /−1 s/);
  t.match(page, new RegExp(`href="${B}/runs/1/timeline">#1<`));
  const first = extractMain(await sendRequest(web, `${B}/runs/1/timeline`));
  t.notMatch(first, /\+30 s/, 'nothing is before the first run');
  t.match(extractMain(await sendRequest(web, `${B}/runs/1/timeline?with=2`)), /−30 s/);
  t.equal((await sendRequest(web, `${B}/runs/1/timeline?with=9`)).status, 404);
  t.equal((await sendRequest(web, '/repos/bob/secret/runs/1/timeline')).status, 404);
});

t.test('a job that was not repeated has no times in the later attempt', async (t) => {
  await alice.post(`${B}/runs/2/rerun`, { jobs: 'failed' });
  await work(7_000, [4_000]);
  t.match(await api('2/timeline'), {
    json: {
      attempt: 2,
      lengthMs: 11_000,
      jobs: [
        { name: 'build', attempt: 1, waited: null, ran: null, steps: { length: 0 } },
        { name: 'ship', attempt: 2, waited: { fromMs: 0, toMs: 7_000 }, ran: { fromMs: 7_000, toMs: 11_000 } },
      ],
    },
  });
  t.match(await api('2/timeline?attempt=1'), { json: { attempt: 1, lengthMs: 94_000 } });
});

t.test('lists of runs and jobs have the wait beside the duration', async (t) => {
  const list = extractMain(await sendRequest(web, `${B}/runs`));
  t.equal(list.match(/waited 5 s/g)?.length, 1, 'the first run; the second did not wait');
  const jobs = extractMain(await sendRequest(web, `${B}/runs/1`));
  t.match(jobs, /waited 5 s[^]*waited 2 s/);
  t.match(jobs, new RegExp(`href="${B}/runs/1/timeline"`));
});
