import t from 'tap';
import type { WebhookEvent } from '../../src/webhooks/index.ts';
import { openCi } from '../ci/ci-fixture.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { startReceiver } from './receiver.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const all: WebhookEvent[] = ['issues', 'issue_comment', 'issue_label', 'issue_assign', 'issue_milestone'];
const work = { owner: 'alice', name: 'work' };
const one = { ...work, number: 1 };

async function openWorld(t: Owner, events: readonly string[] = all) {
  const target = await startReceiver(t);
  const fixture = await openCi(t, {
    env: { SERVICE_BASE_URL: 'http://git.example.lan', SERVICE_WEBHOOKS_ALLOWED_HOSTS: target.host },
  });
  const { webhooks, issues, db } = fixture.modules;
  const scope = { kind: 'repository', id: fixture.found.repository.id } as const;
  await webhooks.add(fixture.viewer, scope, { url: target.url, events });
  /** Waits until every entry is announced, and sends what follows from it. */
  const sent = async () => {
    await waitUntil(async () => {
      const [row]: { n: number }[] = await db.read.query(
        'SELECT count(*) AS n FROM issue_entries WHERE announced_at IS NULL AND held_at IS NULL',
      );
      return Number(row!.n) === 0;
    }, 'every entry is announced');
    await webhooks.drain();
    return target.got.splice(0).map(({ headers, body }) => ({
      event: headers['x-gitea-event'],
      type: headers['x-gitea-event-type'],
      body: JSON.parse(body.toString()) as Record<string, unknown>,
    }));
  };
  return { ...fixture, issues, webhooks, target, scope, sent };
}

t.test('events of an issue are sent in Gitea’s form, each once', async (t) => {
  const { issues, viewer, sent } = await openWorld(t);
  await issues.addLabel(viewer, { repository: work }, { name: 'wet', colour: '0000ff' });
  await issues.addMilestone(viewer, work, { title: 'Winter' });
  await issues.open(viewer, work, { title: 'Leak', body: 'It rains in' });
  const [opened, ...more] = await sent();
  t.same(more, []);
  t.match(opened, {
    event: 'issues',
    type: 'issues',
    body: {
      action: 'opened',
      number: 1,
      commit_id: '',
      issue: {
        id: Number,
        number: 1,
        title: 'Leak',
        body: 'It rains in',
        state: 'open',
        user: { login: 'alice' },
        labels: [],
        assignees: [],
        milestone: null,
        comments: 0,
        html_url: 'http://git.example.lan/repos/alice/work/issues/1',
        url: 'http://git.example.lan/api/v1/repos/alice/work/issues/1',
        repository: { full_name: 'alice/work' },
      },
      repository: { full_name: 'alice/work', private: true },
      sender: { login: 'alice' },
    },
  });
  const steps: [() => Promise<unknown>, object][] = [
    [
      () => issues.setTitle(viewer, one, 'A leak'),
      { type: 'issues', body: { action: 'edited', changes: { title: { from: 'Leak' } }, issue: { title: 'A leak' } } },
    ],
    [
      () => issues.editText(viewer, one, { position: 0, body: 'It pours in', revision: 1 }),
      { type: 'issues', body: { action: 'edited', changes: { body: { from: 'It rains in' } }, number: 1 } },
    ],
    [
      () => issues.triage(viewer, one, { labels: ['wet'] }),
      { event: 'issues', type: 'issue_label', body: { action: 'label_updated', issue: { labels: [{ name: 'wet' }] } } },
    ],
    [
      () => issues.triage(viewer, one, { labels: [] }),
      { type: 'issue_label', body: { action: 'label_updated', issue: { labels: [] } } },
    ],
    [
      () => issues.triage(viewer, one, { assignees: ['alice'] }),
      { event: 'issues', type: 'issue_assign', body: { action: 'assigned', issue: { assignee: { login: 'alice' } } } },
    ],
    [
      () => issues.triage(viewer, one, { assignees: [] }),
      { type: 'issue_assign', body: { action: 'unassigned', issue: { assignee: null } } },
    ],
    [
      () => issues.triage(viewer, one, { milestone: 'Winter' }),
      { type: 'issue_milestone', body: { action: 'milestoned', issue: { milestone: { title: 'Winter' } } } },
    ],
    [() => issues.triage(viewer, one, { milestone: null }), { body: { action: 'demilestoned' } }],
    [
      () => issues.comment(viewer, one, { body: 'Where?' }),
      {
        event: 'issue_comment',
        type: 'issue_comment',
        body: {
          action: 'created',
          is_pull: false,
          comment: { id: Number, body: 'Where?', user: { login: 'alice' }, html_url: /issues\/1#e\d+$/ },
          issue: { number: 1, comments: 1 },
          sender: { login: 'alice' },
        },
      },
    ],
    [() => issues.close(viewer, one), { type: 'issues', body: { action: 'closed', issue: { state: 'closed' } } }],
    [() => issues.reopen(viewer, one), { type: 'issues', body: { action: 'reopened', issue: { state: 'open' } } }],
  ];
  for (const [act, wanted] of steps) {
    await act();
    const got = await sent();
    t.equal(got.length, 1);
    t.match(got[0], wanted);
  }
  const { entries } = await issues.listEntries(viewer, one, { kinds: ['comment'] });
  const { position } = entries[0]!;
  await issues.editText(viewer, one, { position, body: 'And where?', revision: 1 });
  t.match(await sent(), [
    {
      event: 'issue_comment',
      body: { action: 'edited', changes: { body: { from: 'Where?' } }, comment: { body: 'And where?' } },
    },
  ]);
  await issues.deleteComment(viewer, one, position);
  t.match(await sent(), [
    { event: 'issue_comment', body: { action: 'deleted', comment: { body: '' }, issue: { comments: 0 } } },
  ]);
  await issues.trash(viewer, one);
  t.match(await sent(), [{ event: 'issues', body: { action: 'deleted', number: 1 } }]);
});

t.test('a webhook is told nothing of what waits for a member', async (t) => {
  const { issues, viewer, modules, sent } = await openWorld(t, [
    'issues',
    'issue_comment',
    'issue_label',
    'issue_assign',
  ]);
  await modules.repositories.changeVisibility(viewer, 'alice', 'work', 'PUBLIC');
  await issues.changeSettings(viewer, work, { holdsNewcomers: true });
  await issues.addLabel(viewer, { repository: work }, { name: 'wet', colour: '0000ff' });
  const { id } = await modules.accounts.addPerson({ username: 'dora' });
  const dora = { ...viewer, id, username: 'dora' };
  await issues.open(dora, work, { title: 'Secret leak' });
  await issues.triage(viewer, one, { labels: { add: ['wet'] } });
  await issues.triage(viewer, one, { assignees: { add: ['alice'] } });
  await issues.comment(viewer, one, { body: 'Seen' });
  t.strictSame(await sent(), []);
  await issues.admit(viewer, work, id);
  t.ok((await sent()).some(({ body }) => (body as { action?: string }).action === 'opened'));
});

t.test('a webhook receives the events it chose; a held entry is announced when it is approved', async (t) => {
  const { issues, viewer, modules, sent } = await openWorld(t, ['issue_comment']);
  await issues.open(viewer, work, { title: 'Leak' });
  await issues.triage(viewer, one, { isPinned: true });
  t.same(await sent(), []);
  await issues.changeSettings(viewer, work, { holdsNewcomers: true });
  const { id } = await modules.accounts.addPerson({ username: 'dora' });
  const { repositories } = modules;
  await repositories.changeVisibility(viewer, 'alice', 'work', 'PUBLIC');
  const dora = { ...viewer, id, username: 'dora' };
  await issues.comment(dora, one, { body: 'Here' });
  t.same(await sent(), []);
  await issues.admit(viewer, work, id);
  t.match(await sent(), [{ body: { action: 'created', comment: { body: 'Here', user: { login: 'dora' } } } }]);
});
