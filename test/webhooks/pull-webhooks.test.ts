import { execFileSync } from 'node:child_process';
import t from 'tap';
import { webhookEvents } from '../../src/webhooks/index.ts';
import { openCi } from '../ci/ci-fixture.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { fillRepository } from '../fixtures/web-fixture.ts';
import { startReceiver } from './receiver.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const work = { owner: 'alice', name: 'work' };
const one = { ...work, number: 1 };

async function openWorld(t: Owner) {
  const target = await startReceiver(t);
  const fixture = await openCi(t, {
    env: { SERVICE_BASE_URL: 'http://git.example.lan', SERVICE_WEBHOOKS_ALLOWED_HOSTS: target.host },
  });
  const { webhooks, issues, pulls, db } = fixture.modules;
  const scope = { kind: 'repository', id: fixture.found.repository.id } as const;
  const events = webhookEvents.filter((event) => event.startsWith('pull_request'));
  const hook = { url: target.url, events };
  await webhooks.add(fixture.viewer, scope, hook);
  await fillRepository(t, fixture.found.path, { 'roof.txt': 'tiles\n' });
  const git = (...words: string[]): string =>
    execFileSync('git', [`--git-dir=${fixture.found.path}`, ...words], {
      env: {
        PATH: process.env['PATH'],
        GIT_AUTHOR_NAME: 'B',
        GIT_AUTHOR_EMAIL: 'b@example.org',
        GIT_COMMITTER_NAME: 'B',
        GIT_COMMITTER_EMAIL: 'b@example.org',
      },
    })
      .toString()
      .trim();
  const base = git('rev-parse', 'main');
  const blob = execFileSync('git', [`--git-dir=${fixture.found.path}`, 'hash-object', '-w', '--stdin'], {
    input: 'slate\n',
  })
    .toString()
    .trim();
  const tree = execFileSync('git', [`--git-dir=${fixture.found.path}`, 'mktree'], {
    input: `100644 blob ${blob}\troof.txt\n`,
  })
    .toString()
    .trim();
  const head = git('commit-tree', '-p', base, '-m', 'Slate', tree);
  git('update-ref', 'refs/heads/slate', head);
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
  return { ...fixture, issues, pulls, sent, head, base, scopeOf: scope, hook };
}

t.test('events of a pull request are sent in Gitea’s form, each once', async (t) => {
  const { issues, pulls, viewer, sent, head, base } = await openWorld(t);
  await issues.addLabel(viewer, { repository: work }, { name: 'wet', colour: '0000ff' });
  await issues.addMilestone(viewer, work, { title: 'Winter' });
  await pulls.open(viewer, work, { title: 'Slate', body: 'It lasts', head: 'slate', base: 'main' });
  const [opened, ...more] = await sent();
  t.same(more, []);
  t.match(opened, {
    event: 'pull_request',
    type: 'pull_request',
    body: {
      action: 'opened',
      number: 1,
      requested_reviewer: null,
      review: null,
      pull_request: {
        id: Number,
        number: 1,
        title: 'Slate',
        body: 'It lasts',
        state: 'open',
        draft: false,
        merged: false,
        user: { login: 'alice' },
        base: { ref: 'main', sha: base, repo: { full_name: 'alice/work' } },
        head: { ref: 'slate', sha: head, repo: { full_name: 'alice/work' } },
        html_url: 'http://git.example.lan/repos/alice/work/pulls/1',
        url: 'http://git.example.lan/api/v1/repos/alice/work/pulls/1',
        diff_url: 'http://git.example.lan/repos/alice/work/pulls/1.diff',
      },
      repository: { full_name: 'alice/work' },
      sender: { login: 'alice' },
    },
  });
  const steps: [() => Promise<unknown>, object][] = [
    [
      () => issues.setTitle(viewer, one, 'A slate roof'),
      {
        type: 'pull_request',
        body: { action: 'edited', changes: { title: { from: 'Slate' } }, pull_request: { title: 'A slate roof' } },
      },
    ],
    [
      () => issues.editText(viewer, one, { position: 0, body: 'It lasts long', revision: 1 }),
      { type: 'pull_request', body: { action: 'edited', changes: { body: { from: 'It lasts' } } } },
    ],
    [
      () => issues.triage(viewer, one, { labels: ['wet'] }),
      {
        event: 'pull_request',
        type: 'pull_request_label',
        body: { action: 'label_updated', pull_request: { labels: [{ name: 'wet' }] } },
      },
    ],
    [
      () => issues.triage(viewer, one, { assignees: ['alice'] }),
      { event: 'pull_request', type: 'pull_request_assign', body: { action: 'assigned' } },
    ],
    [
      () => issues.triage(viewer, one, { milestone: 'Winter' }),
      { event: 'pull_request', type: 'pull_request_milestone', body: { action: 'milestoned' } },
    ],
    [
      () => issues.comment(viewer, one, { body: 'Who has a ladder?' }),
      {
        event: 'issue_comment',
        type: 'pull_request_comment',
        body: {
          action: 'created',
          is_pull: true,
          comment: { body: 'Who has a ladder?', pull_request_url: /\/pulls\/1$/, html_url: /\/pulls\/1#e\d+$/ },
          issue: { number: 1, pull_request: { merged: false }, html_url: /\/pulls\/1$/ },
          pull_request: { number: 1, head: { sha: head } },
        },
      },
    ],
    [
      () => pulls.edit(viewer, one, { isDraft: true }),
      { type: 'pull_request', body: { action: 'converted_to_draft', pull_request: { draft: true } } },
    ],
    [
      () => pulls.edit(viewer, one, { isDraft: false }),
      { type: 'pull_request', body: { action: 'ready_for_review', pull_request: { draft: false } } },
    ],
    [
      () => issues.close(viewer, one),
      { type: 'pull_request', body: { action: 'closed', pull_request: { state: 'closed', merged: false } } },
    ],
    [
      () => issues.reopen(viewer, one),
      { type: 'pull_request', body: { action: 'reopened', pull_request: { state: 'open' } } },
    ],
  ];
  for (const [act, wanted] of steps) {
    await act();
    const got = await sent();
    t.equal(got.length, 1);
    t.match(got[0], wanted);
  }
  const { oid } = await pulls.merge(viewer, one, { style: 'merge', round: 1 });
  t.match(await sent(), [
    {
      event: 'pull_request',
      body: {
        action: 'closed',
        pull_request: {
          state: 'closed',
          merged: true,
          merge_commit_sha: oid,
          merged_by: { login: 'alice' },
          merge_style: 'MERGE',
        },
      },
    },
  ]);
});

t.test('a team that is asked is named by `requested_team`, and among the teams of the pull request', async (t) => {
  const { issues, pulls, modules, viewer, sent, scopeOf, hook } = await openWorld(t);
  const { organisations, repositories, webhooks, accounts } = modules;
  await organisations.create(viewer, { name: 'guild' });
  await organisations.teams.create(viewer, 'guild', { name: 'Glazers', description: 'Glass', role: 'write' });
  await accounts.addPerson({ username: 'glen' });
  await organisations.teams.addMember(viewer, { organisation: 'guild', name: 'glazers' }, 'glen');
  await repositories.transfers.start(viewer, 'alice', 'work', 'guild');
  const there = { owner: 'guild', name: 'work' };
  await repositories.teams.setRole(viewer, { organisation: 'guild', name: 'glazers' }, there, null);
  if ((await webhooks.list(scopeOf)).length === 0) await webhooks.add(viewer, scopeOf, hook);
  await pulls.open(viewer, there, { title: 'Slate', body: '', head: 'slate', base: 'main' });
  await sent();
  const change = { ...there, number: 1 };
  await pulls.attention.request(viewer, change, { add: ['guild/glazers'] });
  const team = { id: Number, name: 'Glazers', description: 'Glass', permission: 'write', organization: null };
  t.match(await sent(), [
    {
      type: 'pull_request_review_request',
      body: {
        action: 'review_requested',
        requested_reviewer: null,
        requested_team: team,
        pull_request: { requested_reviewers: { length: 0 }, requested_reviewers_teams: [team] },
      },
    },
  ]);
  await pulls.attention.request(viewer, change, { remove: ['guild/glazers'] });
  t.match(await sent(), [
    {
      body: {
        action: 'review_request_removed',
        requested_team: team,
        pull_request: { requested_reviewers_teams: { length: 0 } },
      },
    },
  ]);
  t.equal((await issues.listEntries(viewer, change)).entries.length, 3);
});
