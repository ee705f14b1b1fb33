// time limit: 300 s
// The table of collaboration §6 for pull requests, route by route: what each role gets from each form and operation.
// Every request is one that changes nothing where it is allowed, so that all roles meet the same pull requests.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { personViewer } from '../../src/access/index.ts';
import type { PersonViewer } from '../../src/access/index.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { startAccessFixture } from './access-fixture.ts';
import type { TestRepository, Principal } from './access-fixture.ts';

t.setTimeout(240_000);
const fixture = await startAccessFixture(t);
const { hearth, principals, testRepositories } = fixture;
const { pulls, repositories } = hearth.modules;

type Right = 'people' | 'writers' | 'admins';

/** What there is in each repository: a draft of keeper's, with a thread of theirs and a review of writer's. */
interface Sample {
  number: number;
  threadId: string;
  reviewId: string;
  /** The id of the review in the API. */
  reviewNumber: number;
  head: string;
}

const viewerNamed = (name: string): PersonViewer => ({
  ...personViewer(principals.find((each) => each.name === name)!.id!, 'admin'),
  username: name,
});
const [keeper, writer] = [viewerNamed('keeper'), viewerNamed('writer')];

async function sampleIn({ owner, name }: TestRepository): Promise<Sample> {
  const at = { owner, name };
  const work = path.join(hearth.folder, `work-${name}`);
  const git = async (...args: string[]) => (await runGit(args, { cwd: work })).trim();
  await git('checkout', '--quiet', '-b', 'topic');
  writeFileSync(path.join(work, 'topic.txt'), 'one\n');
  await git('add', '.');
  await git('commit', '--quiet', '-m', 'A topic');
  const { path: bare } = await repositories.find(keeper, owner, name);
  await git('push', '--quiet', bare, 'topic');
  const { issue } = await pulls.open(keeper, at, { title: 'A topic', head: 'topic', isDraft: true });
  const pull = { ...at, number: issue.number };
  const place = { round: 1, path: 'topic.txt', side: 'NEW', firstLine: 1, lastLine: 1, sendNow: true } as const;
  const { threadId } = await pulls.reviews.addComment(keeper, pull, { ...place, body: '```suggestion\ntwo\n```' });
  await pulls.reviews.submit(writer, pull, { verdict: 'REQUEST_CHANGES', body: 'No', round: 1 });
  const review = (await pulls.reviews.list(keeper, pull)).find(({ authorId }) => authorId === writer.id)!;
  const token = principals.find((each) => each.name === 'keeper')!.tokens.admin!;
  const listed = await fetch(`${hearth.url}/api/v1/repos/${owner}/${name}/pulls/${issue.number}/reviews`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  const reviews = (await listed.json()) as { id: number; state: string }[];
  const reviewNumber = reviews.find((each) => each.state === 'REQUEST_CHANGES')!.id;
  return { number: issue.number, threadId, reviewId: review.id, reviewNumber, head: await git('rev-parse', 'HEAD') };
}

/** Forms of the pages. `missing` stands for 404, which says that what the form names is not there. */
const forms: [
  right: Right,
  at: (sample: Sample) => string,
  fields: (sample: Sample) => Record<string, string>,
  missing?: 'missing',
][] = [
  ['writers', () => 'merge', () => ({ style: 'merge', round: '1' })],
  ['writers', () => 'merge', () => ({ style: 'merge', round: '9', action: 'when-ready' })],
  ['writers', () => 'merge', () => ({ style: 'merge', round: '9', action: 'queue' })],
  ['writers', () => 'queue', () => ({ action: 'leave' })],
  ['admins', () => 'queue', () => ({ action: 'first' })],
  ['writers', () => 'cancel-merge', () => ({})],
  ['writers', () => 'reviewers', () => ({ add: 'no-such-person', reviewers: 'no-such-person' }), 'missing'],
  ['admins', () => 'dismiss', ({ reviewId }) => ({ review: reviewId, reason: 'Done' }), 'missing'],
  ['writers', () => 'update', () => ({ style: 'merge', round: '1' })],
  ['writers', () => 'retarget', () => ({ base: 'no-such-branch' })],
  ['writers', () => 'draft', () => ({})],
  ['people', () => 'review', () => ({ verdict: 'COMMENT', body: '', round: '1' })],
  [
    'people',
    () => 'review/comments',
    () => ({ round: '1', path: 'topic.txt', side: 'NEW', first: '1', last: '1', body: 'Hello' }),
  ],
  ['writers', ({ threadId }) => `threads/${threadId}`, () => ({ resolved: '1', action: 'resolve' })],
  ['writers', () => 'apply', () => ({ round: '1', comment: 'none:1' }), 'missing'],
  ['people', () => 'comments', () => ({ body: 'Hello', action: 'comment' })],
];

/** Operations of the API. */
const operations: [right: Right, method: string, at: (sample: Sample) => string, body: unknown, missing?: 'missing'][] =
  [
    ['writers', 'POST', () => '/merge', { Do: 'merge' }],
    ['writers', 'POST', () => '/queue', {}],
    ['writers', 'DELETE', () => '/queue', undefined],
    ['admins', 'POST', () => '/queue/first', undefined],
    ['writers', 'POST', () => '/update', undefined],
    ['writers', 'PATCH', () => '', { base: 'no-such-branch' }],
    ['writers', 'POST', () => '/requested_reviewers', { reviewers: ['no-such-person'] }, 'missing'],
    ['people', 'POST', () => '/reviews', { event: 'COMMENT', body: '' }],
    ['admins', 'POST', ({ reviewNumber }) => `/reviews/${reviewNumber}/dismissals`, { message: 'Done' }, 'missing'],
    ['writers', 'POST', ({ threadId }) => `/threads/${threadId}/resolve`, undefined],
  ];

const mayDo: Record<Right, (who: Principal, place: TestRepository) => boolean> = {
  people: (who, place) => who.id !== null && fixture.may(who, place, 'read'),
  writers: (who, place) => fixture.may(who, place, 'write'),
  admins: (who, place) => fixture.may(who, place, 'admin'),
};

/** `sign in` stands for a redirect to the page for that, or 401. */
type Outcome = 'allowed' | 'forbidden' | 'hidden' | 'sign in';

function wantedFor(who: Principal, place: TestRepository, right: Right, isPage: boolean): Outcome {
  if (!fixture.may(who, place, 'read')) return who.id === null && !isPage ? 'sign in' : 'hidden';
  if (who.id === null) return 'sign in';
  return mayDo[right](who, place) ? 'allowed' : 'forbidden';
}

const outcomeOf = (status: number, location: string | null): Outcome => {
  if (status === 401 || (status === 303 && location?.startsWith('/login') === true)) return 'sign in';
  return status === 403 ? 'forbidden' : status === 404 ? 'hidden' : 'allowed';
};

t.test('§6 every form and operation about a pull request, for every role', async (t) => {
  const samples = new Map<TestRepository, Sample>();
  for (const place of testRepositories) samples.set(place, await sampleIn(place));
  const wrong: string[] = [];
  let cells = 0;
  for (const [place, sample] of samples) {
    const page = `/repos/${place.owner}/${place.name}/pulls/${sample.number}`;
    for (const who of principals) {
      const note = (what: string, wanted: Outcome, response: Response, missing?: 'missing'): void => {
        const { status } = response;
        cells += 1;
        const isMissing = status === 404 && missing === 'missing' && wanted === 'allowed';
        const got = isMissing ? 'allowed' : outcomeOf(status, response.headers.get('location'));
        // Where something else stands in the way before, a signed-out client is told that.
        const isRefused = wanted === 'sign in' && got === 'forbidden';
        if (status >= 500 || (got !== wanted && !isRefused))
          wrong.push(`${who.name}: ${what}: ${status} is ${got}, not ${wanted}`);
      };
      for (const [right, at, fields, missing] of forms) {
        const address = `${page}/${at(sample)}`;
        const response = await fetch(hearth.url + address, {
          method: 'POST',
          redirect: 'manual',
          headers: { origin: hearth.url, ...(who.session === null ? {} : { cookie: `hearth_session=${who.session}` }) },
          body: new URLSearchParams(fields(sample)),
        });
        await response.arrayBuffer();
        note(address, wantedFor(who, place, right, true), response, missing);
      }
      for (const [right, method, at, body, missing] of operations) {
        const address = `/api/v1${page}${at(sample)}`;
        const response = await fetch(hearth.url + address, {
          method,
          headers: {
            'content-type': 'application/json',
            ...(who.id === null ? {} : { authorization: `Bearer ${who.tokens.admin}` }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        await response.arrayBuffer();
        note(`${method} ${address}`, wantedFor(who, place, right, false), response, missing);
      }
    }
  }
  t.same(wrong, []);
  t.ok(cells > 700, `${cells} cells`);
  for (const [place, { number }] of samples) {
    const { issue, pull } = await pulls.find(keeper, { owner: place.owner, name: place.name, number });
    t.match({ issue, pull }, { issue: { state: 'OPEN' }, pull: { isDraft: true, lastRound: 1, mergeWhenReady: null } });
  }
});

t.test('§6 who may open one: by the setting of the repository', async (t) => {
  const place = testRepositories.find(({ name }) => name === 'public-guild')!;
  const at = { owner: place.owner, name: place.name };
  for (const pullsFrom of ['members', 'nobody', 'anyone'] as const) {
    await hearth.modules.issues.changeSettings(viewerNamed('creator'), at, { pullsFrom });
    for (const who of principals.filter(({ id }) => id !== null)) {
      const isMember = [who.organisationRole, who.collaboratorRole, who.teamRole].some((role) => role !== null);
      const may = pullsFrom === 'anyone' || (pullsFrom === 'members' && isMember);
      const page = await fetch(`${hearth.url}/repos/${place.owner}/${place.name}/pulls/new?head=topic`, {
        redirect: 'manual',
        headers: { cookie: `hearth_session=${who.session!}` },
      });
      await page.arrayBuffer();
      t.equal(page.status === 200, may, `${who.name}, ${pullsFrom}: ${page.status}`);
      const branch = `by-${who.name}-${pullsFrom}`;
      await repositories.branches.create(keeper, place.owner, place.name, { name: branch, from: 'topic' });
      const response = await fetch(`${hearth.url}/api/v1/repos/${place.owner}/${place.name}/pulls`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${who.tokens.write}` },
        body: JSON.stringify({ title: 'One more', head: branch, base: 'main' }),
      });
      await response.arrayBuffer();
      t.equal(response.status, may ? 201 : 403, `${who.name}, ${pullsFrom}`);
    }
  }
});
