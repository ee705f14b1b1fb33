// Workflows started by `issues` and `issue_comment`.
import t from 'tap';
import { personViewer } from '../../src/access/index.ts';
import { announced, pushTo } from './pulls-fixture.ts';
import { openCi, workflow } from './ci-fixture.ts';
import type { CiFixture } from './ci-fixture.ts';

const on = (trigger: string) => `on:\n  ${trigger}\njobs:\n  a: {runs-on: linux, steps: [{run: x}]}\n`;
const at = { owner: 'alice', name: 'work' };

const runsOf = async ({ ci, found }: CiFixture) =>
  (await ci.runs.list(found, {}, { limit: 50 })).runs
    .map(({ workflowPath, eventPayload, event, ref, isTrusted, title }) => ({
      ...{ workflowPath, event, ref, title, payload: eventPayload },
      isTrusted: Boolean(isTrusted),
    }))
    .reverse();

const actionsOf = async (fixture: CiFixture) =>
  (await runsOf(fixture)).map(({ event, payload }) => `${event} ${String(payload['action'])}`);

t.test('what happens to an issue starts the workflows that name it', async (t) => {
  const fixture = await openCi(t);
  const { push, viewer, found, modules } = fixture;
  const { issues } = modules;
  await push({
    ...workflow(on('issues:'), 'all.yml'),
    ...workflow(on('issues: {types: [labeled]}'), 'labels.yml'),
    ...workflow(on('push: {branches: [never]}'), 'other.yml'),
  });
  await issues.addLabel(viewer, { repository: at }, { name: 'bug', colour: 'ff0000', description: 'Broken' });
  await issues.addLabel(viewer, { repository: at }, { name: 'big', colour: '00ff00' });
  await issues.addMilestone(viewer, at, { title: 'One', description: '', dueOn: null });
  const { number } = await issues.open(viewer, at, { title: 'It leaks', body: 'In the roof.' });
  const place = { ...at, number };
  await announced(fixture);
  t.match(await runsOf(fixture), [
    {
      workflowPath: 'all.yml',
      event: 'issues',
      ref: 'refs/heads/main',
      title: 'It leaks',
      isTrusted: true,
      payload: {
        action: 'opened',
        sender: { login: 'alice' },
        repository: { full_name: 'alice/work' },
        issue: {
          ...{ number, title: 'It leaks', body: 'In the roof.', state: 'open', labels: { length: 0 }, locked: false },
          user: { login: 'alice', type: 'User' },
          author_association: 'OWNER',
          html_url: `https://git.example.org/repos/alice/work/issues/${number}`,
        },
      },
    },
  ]);
  await issues.triage(viewer, place, { labels: ['bug', 'big'] });
  await announced(fixture);
  const labelled = (await runsOf(fixture)).slice(1);
  t.same(
    labelled.map(({ workflowPath, payload }) => [workflowPath, payload['action'], (payload['label'] as never)['name']]),
    [
      ['all.yml', 'labeled', 'bug'],
      ['labels.yml', 'labeled', 'bug'],
      ['all.yml', 'labeled', 'big'],
      ['labels.yml', 'labeled', 'big'],
    ],
  );
  t.match(labelled[0]!.payload, { label: { color: 'ff0000', description: 'Broken' } });
  await issues.triage(viewer, place, { labels: { remove: ['bug'] }, assignees: ['alice'], milestone: 'One' });
  await issues.setTitle(viewer, place, 'It drips');
  await issues.editText(viewer, place, { position: 0, body: 'In the cellar.', revision: 1 });
  await announced(fixture);
  await issues.close(viewer, place, 'not_planned');
  await announced(fixture);
  await issues.reopen(viewer, place);
  await issues.triage(viewer, place, { milestone: null, assignees: [] });
  await announced(fixture);
  const rest = (await runsOf(fixture)).slice(5);
  t.same(rest.map(({ payload }) => String(payload['action'])).sort(), [
    ...['assigned', 'closed', 'demilestoned', 'edited', 'edited', 'milestoned', 'reopened', 'unassigned', 'unlabeled'],
  ]);
  const of = (action: string) => rest.filter(({ payload }) => payload['action'] === action).map((one) => one.payload);
  t.match(of('assigned'), [{ assignee: { login: 'alice' } }]);
  t.match(of('milestoned'), [{ milestone: { title: 'One' } }]);
  t.match(of('closed'), [{ issue: { state: 'closed', state_reason: 'not_planned' } }]);
  t.match(of('edited'), [
    { changes: { title: { from: 'It leaks' } } },
    { changes: { body: { from: 'In the roof.' } } },
  ]);
  t.equal((await fixture.ci.runs.find(found, 1)).run.actorId, viewer.id);
});

t.test('a comment starts `issue_comment`, on an issue and on a pull request', async (t) => {
  const fixture = await openCi(t);
  const { push, viewer, modules } = fixture;
  const { issues } = modules;
  const main = await push({ ...workflow(on('issue_comment:')), 'a.txt': '1' });
  await pushTo(fixture, 'topic', { 'b.txt': '2' }, main);
  const { number } = await issues.open(viewer, at, { title: 'It leaks', body: '' });
  const place = { ...at, number };
  const { position } = await issues.comment(viewer, place, { body: '/deploy' });
  await announced(fixture);
  t.match(await runsOf(fixture), [
    {
      event: 'issue_comment',
      isTrusted: true,
      payload: {
        action: 'created',
        issue: { number, comments: 1 },
        comment: { body: '/deploy', user: { login: 'alice' }, author_association: 'OWNER' },
      },
    },
  ]);
  t.notOk('pull_request' in ((await runsOf(fixture))[0]!.payload['issue'] as object));
  await issues.editText(viewer, place, { position, body: '/stop', revision: 1 });
  await announced(fixture);
  await issues.deleteComment(viewer, place, position);
  const { issue: pull } = await modules.pulls.open(viewer, at, { title: 'Mend', body: '', head: 'topic' });
  await issues.comment(viewer, { ...at, number: pull.number }, { body: 'Well.' });
  await announced(fixture);
  const runs = (await runsOf(fixture)).slice(1);
  t.match(
    runs.map(({ payload }) => payload),
    [
      { action: 'edited', changes: { body: { from: '/deploy' } } },
      { action: 'deleted' },
      { action: 'created', issue: { number: pull.number, pull_request: { html_url: /\/pulls\// } } },
    ],
  );
});

t.test(
  'SECURITY: people who may not write have no association and start no trusted run; a task starts nothing',
  async (t) => {
    const fixture = await openCi(t);
    const { push, viewer, found, modules, addRunner, ci } = fixture;
    const { issues, accounts, repositories } = modules;
    await repositories.changeVisibility(viewer, 'alice', 'work', 'PUBLIC');
    await push({ ...workflow(on('issue_comment:')), a: '1' });
    const carol = await accounts.addPerson({ username: 'carol' });
    const { number } = await issues.open(viewer, at, { title: 'It leaks', body: '' });
    await issues.comment(
      { ...personViewer(carol.id, 'write'), username: 'carol' },
      { ...at, number },
      { body: 'Me too.' },
    );
    await announced(fixture);
    t.match(await runsOf(fixture), [
      { isTrusted: false, payload: { comment: { user: { login: 'carol' }, author_association: 'NONE' } } },
    ]);
    await ci.secrets.set({ kind: 'repository', id: found.repository.id }, { name: 'DEPLOY', value: 'very secret' });
    const runner = await addRunner(['linux']);
    const task = (await runner.fetch())!;
    t.notOk(task.secrets.has('DEPLOY'), 'it gets no secret');
    const asTask = async ({ secrets }: typeof task) => (await ci.tasks.viewerOfToken(secrets.get('GITHUB_TOKEN')!))!;
    const place = { ...at, number };
    await t.rejects(issues.comment(await asTask(task), place, { body: 'Me too.' }), {
      message: 'This token does not have write access here.',
    });
    await issues.comment(viewer, place, { body: 'And here.' });
    await announced(fixture);
    const trusted = (await runner.fetch())!;
    t.ok(trusted.secrets.has('DEPLOY'));
    await issues.comment(await asTask(trusted), place, { body: 'Thank you.' });
    await announced(fixture);
    t.same(await actionsOf(fixture), ['issue_comment created', 'issue_comment created']);
    await ci.settings.change(viewer, found, { isEnabled: false });
    await issues.comment(viewer, { ...at, number }, { body: 'Off.' });
    await announced(fixture);
    t.equal((await runsOf(fixture)).length, 2);
  },
);
