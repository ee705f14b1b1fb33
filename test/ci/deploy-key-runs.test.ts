// Runs that the push of a deploy key starts: who started them, wherever they are shown.
import t from 'tap';
import { describeRun } from '../../src/ci/index.ts';
import { viewRunRow } from '../../src/pages/runs/run-row.view.ts';
import { runPayload } from '../../src/webhooks/events/run.ts';
import { openCi, workflow } from './ci-fixture.ts';

const onPushAndTag = `on: [push, create]
jobs:
  build:
    runs-on: linux
    steps: [{run: "echo \${{ github.actor }}"}]
`;

t.test('a run keeps the title of the key, and says it everywhere', async (t) => {
  const { push, ci, found, modules, viewer } = await openCi(t);
  await push(workflow(onPushAndTag), { by: null, deployKey: 'garden robot' });
  const { runs } = await ci.runs.list(found, {}, { limit: 9 });
  t.same(
    runs.map(({ event, actorId, deployKey }) => ({ event, actorId, deployKey })),
    [
      { event: 'create', actorId: null, deployKey: 'garden robot' },
      { event: 'push', actorId: null, deployKey: 'garden robot' },
    ],
  );
  const run = runs[1]!;
  t.match(describeRun(run, null, String), { actor: null, deployKey: 'garden robot' });
  t.same(viewRunRow(run, '/repos/alice/work', null, 0, new Map() as never).actor, {
    name: 'deploy key garden robot',
    url: null,
  });
  const located = (await modules.repositories.locate([run.repositoryId])).get(run.repositoryId)!;
  const settings = { baseUrl: null, sshOrigin: null, maxAttempts: 1 };
  const ended = { ...run, status: 'success' } as Parameters<typeof runPayload>[1];
  t.match(runPayload(located, ended, null, settings), {
    sender: { id: -1, login: 'ghost', full_name: 'deploy key garden robot' },
    workflow_run: { actor: { full_name: 'deploy key garden robot' } },
  });

  // A person who runs it again is who started that attempt.
  await ci.runs.cancel(viewer, found, run.number, { force: true });
  await ci.runs.rerun(viewer, found, run.number, 'all');
  const [again] = (await ci.runs.list(found, { event: 'push' }, { limit: 1 })).runs;
  t.match(again, { actorId: null, deployKey: 'garden robot', attempt: 2, attemptActorId: viewer.id });

  await push({ 'a.txt': 'a' });
  const [own] = (await ci.runs.list(found, {}, { limit: 1 })).runs;
  t.match(own, { actorId: viewer.id, deployKey: null });
});
