// What leaves the server after an act, to the letter: messages to webhooks, mails, notifications, activities, runs. Two
// of everything, a private one and a foreign one, people who do not want to know, and people who may not.
import t from 'tap';
import { personViewer } from '../../src/access/index.ts';
import { listenersOf } from '../../src/app/subscriptions.ts';
import { collectSent } from '../fixtures/sent-messages.ts';
import { fillRepository, sendRequest, startWeb } from '../fixtures/web-fixture.ts';

const web = await startWeb(t, {
  env: {
    SERVICE_BASE_URL: 'https://git.example.org',
    SERVICE_FEDERATION_ENABLED: 'true',
    SERVICE_FEDERATION_BASE_URL: 'https://git.example.org',
    SERVICE_MAIL_HOST: '127.0.0.1',
    SERVICE_MAIL_PORT: '1',
    SERVICE_MAIL_TLS: 'none',
    SERVICE_MAIL_FROM: 'Hearth <hearth@example.org>',
  },
});
const { modules } = web;
const { accounts, db, issues, notifications, organisations, pulls, releases, repositories, webhooks } = modules;

/** @param mail whether notifications reach the person by mail */
async function join(username: string, mail = false) {
  const { id } = await accounts.addPerson({ username });
  if (mail) await accounts.addresses.add(id, { address: `${username}@example.org`, isVerified: true });
  const { secret } = await accounts.addToken(id, {
    name: 'test',
    access: 'admin',
    repositoryIds: null,
    expiresAt: null,
  });
  return { ...personViewer(id, 'admin'), id, username, token: secret };
}
const [alice, bob, carol] = [await join('alice'), await join('bob', true), await join('carol')];
/** They watch everything; one ignores, one is suspended, one has blocked bob, one may not read what is private. */
const [dora, erin, gus, heidi] = [await join('dora', true), await join('erin'), await join('gus'), await join('heidi')];

await organisations.create(carol, { name: 'guild' });
const garden = { owner: 'alice', name: 'garden' };
const shed = { owner: 'alice', name: 'shed' };
const made: [viewer: typeof alice, owner: string, name: string, visibility: 'PUBLIC' | 'PRIVATE'][] = [
  [alice, 'alice', 'garden', 'PUBLIC'],
  [alice, 'alice', 'shed', 'PRIVATE'],
  [carol, 'carol', 'yard', 'PUBLIC'],
  [carol, 'guild', 'tools', 'PUBLIC'],
];
const workflow =
  'on: [push, pull_request, release, issues]\njobs:\n  test:\n    runs-on: linux\n    steps: [{ run: ls }]\n';
for (const [viewer, owner, name, visibility] of made) {
  await repositories.create(viewer, { owner, name, visibility });
  const found = await repositories.find(viewer, owner, name);
  await fillRepository(t, found.path, { 'a.txt': 'a\n', '.hearth/workflows/ci.yml': workflow });
  const scope = { kind: 'repository', id: found.repository.id } as const;
  await webhooks.add(viewer, scope, { url: `https://hooks.example.org/${name}`, events: ['issues', 'issue_comment'] });
  await webhooks.add(viewer, scope, {
    url: `https://hooks.example.org/${name}-code`,
    events: ['push', 'create', 'pull_request', 'release', 'run', 'pull_request_review_request'],
  });
  const off = { url: `https://hooks.example.org/${name}-off`, events: ['push', 'issues'], isActive: false };
  await webhooks.add(viewer, scope, off);
}
for (const name of ['garden', 'shed'])
  await repositories.collaborators.add(alice, 'alice', name, { username: 'bob', role: 'write' });
for (const viewer of [alice, carol, bob])
  for (const at of [garden, shed]) await notifications.setWatching(viewer, at, null).catch(() => {});
for (const viewer of [dora, erin, gus, heidi]) await notifications.setWatching(viewer, garden, 'everything');
await db.write(({ manager }) =>
  manager.query(
    `INSERT INTO watches (user_id, repository_id, level, created_at)
     SELECT ?, id, 'everything', 1 FROM repositories WHERE name = 'shed'`,
    [dora.id],
  ),
);
await notifications.setWatching(heidi, garden, 'ignore');
await accounts.setDisabled(erin.id, true);
await issues.block(gus, { owner: 'gus', username: 'bob' });

const api = async (viewer: typeof alice, method: string, path: string, body: object) => {
  const text = JSON.stringify(body);
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(text)),
    Authorization: `Bearer ${viewer.token}`,
  };
  const response = await sendRequest(web, `/api/v1${path}`, { method, headers, body: text });
  if (response.status >= 300) throw new Error(`${path}: ${response.status} ${response.body}`);
};
const branch = (name: string, by = alice, at = garden) =>
  repositories.contents.change(by, at.owner, at.name, {
    operations: [{ kind: 'create', path: `${name}.txt`, content: Buffer.from(name) }],
    newBranch: name,
  });
const endRun = async (number: number, actorId: string, status: 'failure' | 'success') => {
  const { repository } = await repositories.find(alice, 'alice', 'garden');
  const run = {
    repositoryId: repository.id,
    number,
    attempt: 1,
    workflowPath: 'build.yml',
    workflowName: 'Build',
    title: 'Seal the seams',
    ref: 'refs/heads/main',
    sha: '0123456789',
    event: 'push',
    actorId,
    status,
  };
  web.clock.advance(1_000);
  await db.write(async (tx) => {
    for (const listener of listenersOf(modules).runEnd) await listener(tx, run as never);
  });
};

type Step = [act: string, work: () => Promise<unknown>, lines: string[]];
const steps: Step[] = [
  [
    'an issue',
    () => issues.open(bob, garden, { title: 'One', body: 'for @carol and @heidi, @erin' }),
    ['notify carol mention garden', 'notify dora watching garden', 'run issues garden', 'webhook garden issues'],
  ],
  [
    'an issue in private',
    () => issues.open(alice, shed, { title: 'Two', body: 'for @carol, @bob' }),
    ['mail notification bob', 'notify bob mention shed', 'run issues shed', 'webhook shed issues'],
  ],
  [
    'a comment',
    () => issues.comment(alice, { ...garden, number: 1 }, { body: 'yes' }),
    [
      'mail notification bob',
      'notify bob author garden',
      'notify carol mention garden',
      'notify dora watching garden',
      'notify gus watching garden',
      'webhook garden issue_comment',
    ],
  ],
  [
    'a comment of who is blocked',
    () => issues.comment(bob, { ...garden, number: 1 }, { body: '@gus' }),
    [
      'notify alice reply garden',
      'notify carol mention garden',
      'notify dora watching garden',
      'webhook garden issue_comment',
    ],
  ],
  [
    'a new branch',
    () => branch('topic', bob),
    ['federation Push garden', 'run push garden', 'webhook garden-code create', 'webhook garden-code push'],
  ],
  [
    'a branch in private',
    () => branch('topic', alice, shed),
    ['run push shed', 'webhook shed-code create', 'webhook shed-code push'],
  ],
  [
    'a pull request',
    () => pulls.open(bob, garden, { title: 'Topic', head: 'topic', body: '' }),
    ['notify dora watching garden', 'run pull_request garden', 'webhook garden-code pull_request'],
  ],
  [
    'a review is asked for',
    () => api(bob, 'POST', '/repos/alice/garden/pulls/2/requested_reviewers', { reviewers: ['alice'] }),
    ['notify alice review_asked garden', 'webhook garden-code pull_request_review_request'],
  ],
  [
    'it is not asked for any more',
    () => api(bob, 'DELETE', '/repos/alice/garden/pulls/2/requested_reviewers', { reviewers: ['alice'] }),
    ['webhook garden-code pull_request_review_request'],
  ],
  [
    'a review is asked for again',
    () => api(bob, 'POST', '/repos/alice/garden/pulls/2/requested_reviewers', { reviewers: ['alice'] }),
    ['notify alice review_asked garden', 'webhook garden-code pull_request_review_request'],
  ],
  [
    'it is merged, which waits for no review',
    async () => {
      const { issue } = await pulls.find(alice, { ...garden, number: 2 });
      await notifications.markIssueSeen(alice, issue.id, 99);
      await pulls.merge(bob, { ...garden, number: 2 }, { style: 'merge', round: 1 });
    },
    [
      'federation Push garden',
      'notify alice reply garden',
      'notify dora watching garden',
      'run push garden',
      'webhook garden-code pull_request',
      'webhook garden-code push',
    ],
  ],
  [
    'a release',
    () => releases.create(bob, garden, { tag: 'v1', title: 'One' }),
    [
      'notify dora release garden',
      'run push garden',
      'run release garden',
      'webhook garden-code create',
      'webhook garden-code push',
      'webhook garden-code release',
    ],
  ],
  ['a draft of one', () => releases.create(bob, garden, { tag: 'v2', title: 'Two', isDraft: true }), []],
  [
    'a release in private',
    () => releases.create(alice, shed, { tag: 'v1', title: 'One' }),
    [
      'run push shed',
      'run release shed',
      'webhook shed-code create',
      'webhook shed-code push',
      'webhook shed-code release',
    ],
  ],
  [
    'a failed run',
    () => endRun(901, bob.id, 'failure'),
    [
      'mail notification bob',
      'notify bob ci_failed garden',
      'notify dora watching garden',
      'notify gus watching garden',
      'webhook garden-code workflow_run',
    ],
  ],
  [
    'a failed run of who ignores the repository',
    () => endRun(902, heidi.id, 'failure'),
    ['notify dora watching garden', 'notify gus watching garden', 'webhook garden-code workflow_run'],
  ],
  ['a run that succeeds', () => endRun(903, bob.id, 'success'), ['webhook garden-code workflow_run']],
];

t.test('each act tells whom it concerns, and nobody else', async (t) => {
  const sent = collectSent(t, modules);
  await sent();
  for (const [act, work, lines] of steps) {
    web.clock.advance(1_000);
    await work();
    t.strictSame(await sent(), lines, act);
  }
});
