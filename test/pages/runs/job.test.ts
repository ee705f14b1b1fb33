// A job that failed because what `uses` names is not there: runners say "reference not found" and nothing else.
import t from 'tap';
import { missingReferenceIn } from '../../../src/ci/logs/missing-reference.ts';
import { driveRunner } from '../../ci/ci-fixture.ts';
import { fillRepository, signedIn, startWeb } from '../../fixtures/web-fixture.ts';

const url = 'https://forge.example.org/actions/checkout';
const clone = `  \u2601  git clone '${url}' # ref=v99`;

t.test('the action is what the runner fetched right before the error', async (t) => {
  const table: [title: string, rows: string[], ref: string | null][] = [
    ['Gitea', [clone, 'Unable to resolve v99: reference not found', 'reference not found'], 'v99'],
    ['Forgejo', [clone.replace('clone', 'fetch'), 'Unable to resolve v99: reference not found'], 'v99'],
    [
      'a repository that is not there',
      [clone, 'Unable to clone x: authentication required: Repository not found.'],
      'v99',
    ],
    ['the last of several', [clone, 'ok', clone.replace('v99', 'v1'), 'reference not found'], 'v1'],
    ['an error without an action', ['git push', 'error: reference not found'], null],
    ['long after it', [clone, ...Array.from({ length: 20 }, () => 'x'), 'reference not found'], null],
    ['an action that was found', [clone, 'all is well'], null],
    ['no log', [], null],
    ['rows without an end', [`git clone '${'x'.repeat(100_000)}`, 'x'.repeat(100_000)], null],
  ];
  for (const [title, rows, ref] of table)
    t.strictSame(missingReferenceIn(rows), ref === null ? null : { url, ref }, title);
});

t.test('the page of the job names it, as text, once the job has failed', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
  const { path, repository } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
  await fillRepository(t, path, {
    '.hearth/workflows/ci.yml': `on: workflow_dispatch\njobs: {build: {runs-on: linux, steps: [{uses: "${url}@v99"}]}}\n`,
  });
  const { ci, clock } = { ...web.modules, clock: web.clock };
  const scope = { kind: 'repository', id: repository.id } as const;
  const { runner, token } = await ci.runners.create(scope, { name: 'one', ephemeral: false });
  const driven = await driveRunner({ ci, clock } as never, { uuid: runner.uuid, token });
  await ci.runners.declare(await driven.row(), { version: 'v1', labels: ['linux'], capabilities: [] });
  const said = /The runner did not find v99 of https:\/\/forge\.example\.org\/actions\/checkout/;
  for (const result of ['success', 'failure'] as const) {
    await alice.post('/repos/alice/kiln/runs', { workflow: 'ci.yml', ref: 'main' });
    const task = (await driven.fetch())!;
    await driven.log(task.taskId, 0, [clone, `<script>`, 'reference not found'], true);
    await driven.report(task.taskId, { result, stoppedAt: clock.now() });
    const number = result === 'success' ? 1 : 2;
    const { body: run } = await alice.get(`/repos/alice/kiln/runs/${number}`);
    const [, job] = new RegExp(`/runs/${number}/jobs/([^"?#/]+)`).exec(run)!;
    const { body } = await alice.get(`/repos/alice/kiln/runs/${number}/jobs/${job}`);
    if (result === 'failure') t.match(body, said);
    else t.notMatch(body, said, 'a job that ended well misses nothing');
  }
});
