// time limit: 600 s
// Every route and API operation whose address or form names something inside something else: the inner id of another
// parent, in the same repository, in another one of the same owner and in a private one of another person, is answered
// as one that does not exist, to the byte, and changes nothing. The cases come from the tables of the program: a route
// with an id that `kinds` does not know fails.
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { databaseFile } from '../../src/app/index.ts';
import { operations } from '../../src/http-api/v1/operations.ts';
import { routes } from '../../src/pages/routes.ts';
import type { Route } from '../../src/pages/routes.ts';
import { standardWorld } from '../fixtures/standard-world.ts';
import type { Thing, World, WorldPerson } from '../fixtures/standard-world.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';
import type { PageResponse } from '../fixtures/web-fixture.ts';

t.setTimeout(580_000);

/** Stands for every handler: only the rows of the table are read here. */
const noHandlers = new Proxy(() => Promise.resolve(), { get: () => () => Promise.resolve() }) as never;
const table: Route[] = (routes as (...handlers: never[]) => Route[])(
  noHandlers,
  noHandlers,
  noHandlers,
  noHandlers,
  noHandlers,
);

/** `api` and `page` paths with `:name` for each parameter. */
interface Subject {
  method: string;
  path: string;
  isApi: boolean;
}
const lfsUnlock = '/git/:owner/:name.git/info/lfs/locks/:lock/unlock';
const subjects: Subject[] = [
  ...operations.map(({ method, path }) => ({
    method,
    // As in Gitea, the number says nothing here: the comment is found by its own id in the repository.
    path: path
      .replaceAll(/\{(\w+)\}/g, ':$1')
      .replace('/issues/:number/comments/:comment', '/issues/1/comments/:comment'),
    isApi: true,
  })),
  ...table.map(({ method, path }) => ({
    method,
    path: path.replaceAll(/\{\/\*(\w+)\}/g, '/:$1').replaceAll(/\*(\w+)/g, ':$1'),
    isApi: false,
  })),
  { method: 'POST', path: lfsUnlock, isApi: true },
];

/** The kind of thing that the last parameter of a path names; the first rule that matches. */
const kinds: readonly [path: RegExp, kind: string][] = [
  [/^api .*\/branch_protections\/:rule$/, 'branch-rule'],
  [/^page .*\/branches\/:rule$/, 'branch-rule-uuid'],
  [/\/tag_protections\/:id$/, 'tag-rule'],
  [/^api \/repos\/:owner\/:name\/keys\/:id$/, 'deploy-key'],
  [/^page \/repos\/.*\/keys\/:id$/, 'deploy-key-uuid'],
  [/\/lost-tips\/:tip$/, 'lost-tip'],
  [/\/locks\/:lock$/, 'lfs-lock'],
  [/\/webhooks\/:(webhook|hook)$/, 'webhook'],
  [/^api \/(repos|orgs)\/.*\/hooks\/:id$/, 'webhook-number'],
  [/\/deliveries\/:delivery$/, 'delivery'],
  [/\/(commits|statuses|git\/commits|git\/notes)\/:commit$|^page .*\/commit\/:id$/, 'commit'],
  [/\/issues\/(1\/)?comments\/:comment$/, 'comment'],
  [/\/issue_trash\/:number$/, 'trashed-issue'],
  [/\/issues\/:number$/, 'issue'],
  [/\/issues\/:number\/assets\/:id$/, 'attachment'],
  [/\/attachments\/:id$/, 'attachment-of-repository'],
  [/^api .*\/labels\/:label$/, 'label-number'],
  [/^page .*\/labels\/:label$/, 'label'],
  [/^api .*\/milestones\/:milestone$/, 'milestone'],
  [/^page .*\/milestones\/:milestone$/, 'milestone-uuid'],
  [/\/boards\/:board$/, 'board'],
  [/\/boards\/:board\/columns\/:column$/, 'board-column'],
  [/\/boards\/:board\/cards\/:card$/, 'board-card'],
  [/\/pulls\/:number$/, 'pull'],
  [/\/reviews\/:review$/, 'review'],
  [/\/threads\/:thread$/, 'thread'],
  [/\/releases\/:id$/, 'release'],
  [/\/assets\/:asset$/, 'release-file'],
  [/\/releases\/(tags|tag|edit|delete|remove-file)\/:tag$/, 'release-tag'],
  [/\/releases\/latest\/download\/:file$/, 'latest-file'],
  [/\/releases\/download\/:file$/, 'release-file-path'],
  [/\/actions\/runs\/:run$/, 'run-id'],
  [/\/(actions\/jobs\/:job|check-runs\/:check)$/, 'job-of-repository'],
  [/\/actions\/artifacts\/:id$/, 'artifact-of-repository'],
  [/\/runs\/:number$/, 'run'],
  [/\/actions\/runs\/:run\/jobs\/:job$/, 'job-by-run-id'],
  [/\/jobs\/:job$/, 'job'],
  [/\/runs\/:number\/artifacts\/:id$/, 'artifact'],
  [/\/runners\/:(id|runner)$/, 'runner'],
  [/\/environments\/:environment$/, 'environment'],
  [/\/environments\/:environment\/deployment-branch-policies\/:policy$/, 'environment-policy'],
  [/\/environments\/:environment\/secrets\/:secret$/, 'environment-secret'],
  [/\/environments\/:environment\/variables\/:variable$/, 'environment-variable'],
  [/\/deployments\/:deployment$/, 'deployment'],
  [/\/deployments\/:deployment\/statuses\/:status$/, 'deployment-status'],
  [/\/secrets\/:secret$/, 'secret'],
  [/\/variables\/:variable$/, 'variable'],
  [/^page .*\/teams\/:team$/, 'team'],
  [/^api \/notifications\/threads\/:id$/, 'notification'],
  [/^(api \/user|api \/admin\/users\/:username|page \/settings)\/keys\/:id$/, 'ssh-key'],
  [/^(api \/user|page \/settings)\/tokens\/:id$/, 'token'],
  [/^api \/users\/:username\/tokens\/:token$/, 'token'],
  [/^page .*\/applications\/:app$/, 'application'],
  [/^api .*\/oauth2\/:application$/, 'application-number'],
  [/\/grants\/:grant$/, 'grant'],
  [/^page \/settings\/emails\/:id$/, 'address'],
  [/^page \/settings\/linked-accounts\/:id$/, 'linked-account'],
  [/^page \/settings\/security\/passkeys\/:id$/, 'passkey'],
  [/^page \/settings\/sessions\/:id$/, 'session'],
  [/^page \/admin\/people\/:id$/, 'person-id'],
  [/^page \/admin\/people\/:id\/emails\/:address$/, 'address-by-person-id'],
];

/** Parameters that name nothing that belongs to something else, with a value for those beside one that does. */
const free: readonly [path: RegExp, value: string, reason: string][] = [
  [/\/subscriptions\/:username$/, 'alice', 'an account: only oneself is allowed'],
  [/:(username|person|target)$/, 'bob', 'an account: known to everybody'],
  [/:(round|position|attempt)$/, '1', 'a place in the list of its parent'],
  [
    /:(base|head|branch|ref|ref_name|sha|filepath|basehead|range|workflow|operation|rest|path)$/,
    'main',
    'a name in git',
  ],
  [/\/tags\/:tag$/, 'main', 'a name in git'],
  [/\/wiki\/(page|revisions)\/:page$/, 'Home', 'a title, which the wiki of the repository has or has not'],
  [/\/times\/:id$/, '1', 'looked for among the times of the issue: its own test asks'],
  [/\/issues\/comments\/:comment\/assets\/:id$/, '1', 'looked for in the comment: its own test asks'],
  [/\/pulls\/(:number\/)?comments\/:comment$/, '1', 'looked for in the repository alone: its own test asks'],
  [/^api \/admin\/cron\/:task$/, 'none', 'a part of the program'],
  [/^api \/(user|admin)\/hooks\/:id$/, '1', 'of the caller and of the server: test/webhooks/webhook-places.test.ts'],
  [/\/archive\/:file$/, 'main.zip', 'a name in git'],
  [/:oneTimeToken$/, 'none', 'a secret of the session, held in memory'],
  [/^api \/teams\/:id/, '1', 'the team is the outer one; what it is given is named in full'],
  [/\/teams\/:team\/repositories\/:repository$/, 'hall', 'a repository of the organisation, by its name'],
  [/^page \/(v2|packages|api\/packages)\b/, 'none', 'packages: test/http-packages/credentials.test.ts'],
  [/\/package-retention\/:type$/, 'npm', 'a format'],
  [/^api \/packages\/:owner\b/, 'none', 'packages: test/http-packages/packages-api.test.ts'],
  [/^page \/(ap|following|admin\/federation)\b/, 'none', 'federation is off here: its own tests ask'],
  [/^api \/user\/(follows|copies)\//, 'none', 'federation is off here: its own tests ask'],
  [/^api .*\/federation\/notes\/:id$/, 'none', 'federation is off here: its own tests ask'],
  [/^(api \/user|page \/settings)\/(gpg_keys|gpg)\/:id$/, 'none', 'the owner is in the statement that removes'],
  [/^page \/settings\/repositories\/:id$/, 'none', 'a repository by its id: transfers and the trash ask whose it is'],
  [/^page \/admin\//, 'none', 'an administrator reaches everything: nothing is outside'],
  [/^api \/(orgs?|repos)\/[^:]*:(org|owner|repo)$/, 'none', 'the outermost'],
  [/^api \/user\/starred\/:owner(\/:name)?$/, 'none', 'the outermost'],
  [/^api \/(licenses|gitignore\/templates|label\/templates)\/:name$/, 'MIT', 'a part of the program'],
  [/^page \/help\/:name$/, 'issues', 'a part of the program'],
  [/\/topics\/:topic$/, 'garden', 'a word'],
  [/^page \/repos\/import\/:import/, 'none', 'an order of a person: test/pages/repository/import.test.ts'],
  [/\/push_mirrors\/:mirror$/, 'mirror', 'a repository has one at most, of this name'],
  [/^api \/repos\/:owner\/:name\/teams\/:team$/, 'none', 'a team of the owner, by its name'],
  [/^api \/repositories\/:id$/, 'none', 'the outermost'],
  [/^api \/users\/:username\/orgs\/:org$/, 'guild', 'an organisation, by its name: nothing inside the account'],
  [
    /^page \/(:\w+|assets\/|avatars\/|-\/|login\/|logout\/|twirp|api\/|git\/|users\/|nodeinfo|notifications|orgs\/:name$)/,
    'none',
    'the outermost',
  ],
];

/** Answered otherwise than what is absent, by intent. */
const intended: Record<string, string> = {
  'page GET /repos/:owner/:name/attachments/:id own': 'a file of an issue that was moved is found at its new place',
};

/** Routes whose answer to the right ids is the one to absent ones here: what they refuse first, or have lost. */
const withoutControl = new Set([
  // The world has no comment with this number, and no file of a comment.
  ...['GET', 'PATCH', 'DELETE'].map(
    (method) => `api ${method} /repos/:owner/:name/issues/comments/:comment/assets/:id`,
  ),
  'api DELETE /repos/:owner/:name/issues/:number/times/:id',
  'api POST /repos/:owner/:name/pulls/:number/comments/:comment/replies',
  // The world has no such file and no such revision.
  'page GET /repos/:owner/:name/runs/:number/artifacts/:id/files/:path',
  'page GET /repos/:owner/:name/issues/:number/history/:position',
  'page GET /repos/:owner/:name/pulls/:number/history/:position',
  // Redirects, whatever there is.
  'page GET /repos/:owner/:name/releases/latest/download/:file',
  'page POST /repos/:owner/:name/issues/:number/restore',
  'page POST /repos/:owner/:name/pulls/:number/restore',
]);

/** What the caller is sent to say; `{kind}` in a value is one more id. The rest is sent empty. */
const bodies: Record<string, Record<string, unknown> | Buffer> = {
  'api POST /repos/:owner/:name/issues/:number/assets': Buffer.from('a file'),
  'api POST /repos/:owner/:name/issues/:number/assignees': { assignees: ['alice'] },
  'api DELETE /repos/:owner/:name/issues/:number/assignees': { assignees: ['alice'] },
  'api POST /repos/:owner/:name/issues/:number/dependencies': { index: 1_004 },
  'api DELETE /repos/:owner/:name/issues/:number/dependencies': { index: 1_004 },
  'api POST /repos/:owner/:name/issues/:number/duplicates': { index: 1_004 },
  'api DELETE /repos/:owner/:name/issues/:number/duplicates': { index: 1_004 },
  'api POST /repos/:owner/:name/issues/:number/blocks': { index: 1_004 },
  'api DELETE /repos/:owner/:name/issues/:number/blocks': { index: 1_004 },
  'api POST /repos/:owner/:name/runs/:number/rerun': { jobs: 'all' },
  'api POST /repos/:owner/:name/actions/runs/:run/pending_deployments': { state: 'approved' },
  'api POST /repos/:owner/:name/environments/:environment/deployment-branch-policies': { name: 'other' },
  'api POST /repos/:owner/:name/deployments/:deployment/statuses': { state: 'success' },
  'page POST /repos/:owner/:name/runs/:number/deployments': { verdict: 'approved' },
  'page POST /repos/:owner/:name/environments/redeploy': { deployment: '{deployment}' },
  'page POST /repos/:owner/:name/settings/environments/delete': { environment: '{environment}' },
  'page POST /repos/:owner/:name/settings/environments/rules': { environment: '{environment}', ref_policy: 'all' },
  'page POST /repos/:owner/:name/settings/environments/secrets': {
    environment: '{environment}',
    name: 'A',
    value: 'x',
  },
  'api PATCH /repos/:owner/:name/boards/:board/cards/:card': { column: '{board-column}', to: 'top' },
  'api PATCH /orgs/:org/boards/:board/cards/:card': { column: '{board-column}', to: 'top' },
  'api POST /repos/:owner/:name/boards/:board/cards': { index: 1 },
  'api POST /orgs/:org/boards/:board/cards': { repo: 'planned', index: 1 },
  'api POST /repos/:owner/:name/boards/:board/columns': { name: 'mine' },
  'api POST /orgs/:org/boards/:board/columns': { name: 'mine' },
  'page POST /repos/:owner/:name/boards/:board': { title: 'mine' },
  'page POST /orgs/:name/boards/:board': { title: 'mine' },
  'page POST /repos/:owner/:name/boards/:board/columns': { column_name: 'mine' },
  'page POST /orgs/:name/boards/:board/columns': { column_name: 'mine' },
  'page POST /repos/:owner/:name/boards/:board/columns/:column': { column_name: 'mine' },
  'page POST /orgs/:name/boards/:board/columns/:column': { column_name: 'mine' },
  'page POST /repos/:owner/:name/boards/:board/move': { card: '{board-card}', column: '{board-column}', to: 'top' },
  'page POST /orgs/:name/boards/:board/move': { card: '{board-card}', column: '{board-column}', to: 'top' },
  'api PUT /repos/:owner/:name/webhooks/:webhook': { url: 'https://hooks.example.org/', events: ['push'] },
  'api PUT /orgs/:org/webhooks/:webhook': { url: 'https://hooks.example.org/', events: ['push'] },
  'api PATCH /repos/:owner/:name/issues/1/comments/:comment': { body: 'mine now' },
  'api PATCH /repos/:owner/:name/actions/runners/:runner': { disabled: true },
  'api PATCH /orgs/:org/actions/runners/:runner': { disabled: true },
  'api PATCH /user/actions/runners/:runner': { disabled: true },
  'api PATCH /admin/actions/runners/:runner': { disabled: true },
  'api PATCH /user/applications/oauth2/:application': { name: 'mine', redirect_uris: ['https://tool.example.org/'] },
  'api PATCH /repos/:owner/:name/hooks/:id': { events: ['push'] },
  'api PATCH /orgs/:org/hooks/:id': { events: ['push'] },
  'api POST /repos/:owner/:name/pulls/:number/merge': { Do: 'merge' },
  'api PATCH /repos/:owner/:name/issues/comments/:comment': { body: 'mine now' },
  'api PUT /repos/:owner/:name/issues/comments/:comment/hidden': { reason: 'spam' },
  'api POST /repos/:owner/:name/issues/comments/:comment/reactions': { content: '+1' },
  'api DELETE /repos/:owner/:name/issues/comments/:comment/reactions': { content: '+1' },
  'api POST /repos/:owner/:name/issues/:number/comments': { body: 'text' },
  'api POST /repos/:owner/:name/issues/:number/deadline': { due_date: '2026-12-24' },
  'api POST /repos/:owner/:name/issues/:number/times': { time: 60 },
  'api PATCH /repos/:owner/:name/issues/:number/assets/:id': { name: 'other.txt' },
  'api PATCH /repos/:owner/:name/issues/comments/:comment/assets/:id': { name: 'other.txt' },
  'api POST /repos/:owner/:name/pulls/:number/comments/:comment/replies': { body: 'text' },
  'api POST /repos/:owner/:name/issues/:number/reactions': { content: '+1' },
  'api DELETE /repos/:owner/:name/issues/:number/reactions': { content: '+1' },
  'api POST /repos/:owner/:name/issues/:number/move': { owner: 'alice', repo: 'shed' },
  'api POST /repos/:owner/:name/issues/:number/labels': { labels: ['{label-number}'] },
  'api PUT /repos/:owner/:name/issues/:number/labels': { labels: ['{label-number}'] },
  'api POST /repos/:owner/:name/pulls/:number/reviews/:review': { event: 'COMMENT', body: 'text' },
  'api POST /repos/:owner/:name/pulls/:number/reviews/:review/dismissals': { message: 'never mind' },
  'api POST /repos/:owner/:name/pulls/:number/requested_reviewers': { reviewers: ['bob'] },
  'api DELETE /repos/:owner/:name/pulls/:number/requested_reviewers': { reviewers: ['bob'] },
  'api POST /repos/:owner/:name/pulls/:number/suggestions': {
    comments: [{ thread_id: '{thread}', thread_position: 1 }],
  },
  'api POST /repos/:owner/:name/commits/:commit/statuses': { context: 'ci', state: 'success' },
  'api POST /repos/:owner/:name/statuses/:commit': { context: 'ci', state: 'success' },
  'api PATCH /repos/:owner/:name/releases/:id/assets/:asset': { name: 'other' },
  'api POST /repos/:owner/:name/lost-tips/:tip/restore': { as: 'refs/heads/back' },
  'page POST /repos/:owner/:name/pulls/:number/dismiss': { review: '{review-uuid}', reason: 'never mind' },
  'page POST /repos/:owner/:name/pulls/:number/review/comments': { thread: '{thread}', body: 'text', round: '1' },
  'page POST /repos/:owner/:name/pulls/:number/review/comments/edit': {
    thread: '{thread}',
    position: '1',
    body: 'mine now',
  },
  'page POST /repos/:owner/:name/pulls/:number/review/comments/delete': { thread: '{thread}', position: '1' },
  'page POST /repos/:owner/:name/pulls/:number/threads/:thread': { resolved: '1' },
  'page POST /repos/:owner/:name/pulls/:number/milestone': { milestone: '{milestone-uuid}' },
  'page POST /repos/:owner/:name/issues/:number/milestone': { milestone: '{milestone-uuid}' },
  'page POST /repos/:owner/:name/releases/remove-file/:tag': { file: '{release-file-uuid}' },
};

/** What is added to an address; `{kind}` is one more id. */
const queries: Record<string, string> = {
  'api GET /repos/:owner/:name/runs/:number/compare': '?with={run}',
  'page GET /repos/:owner/:name/runs/:number/timeline': '?with={run}',
};

const same = (one: Thing, other: Thing): boolean => one.kind === other.kind && one.value === other.value;
/** How many things of a kind are asked for in turn until one is there. */
const choicesOfControl = 6;
const home = ['alice/garden', 'guild', 'alice', ''];

let world: World;
let database: DatabaseSync;
t.before(async () => {
  world = await standardWorld(t);
  database = new DatabaseSync(databaseFile(world.web.modules.config), { readOnly: true });
  t.teardown(() => database.close());
});

/** A parameter of a path or a form, in the order in which they are found. */
interface Slot {
  /** As the path or the form has it. */
  hole: string;
  kind: string;
}

interface Case extends Subject {
  key: string;
  slots: Slot[];
  body: Record<string, unknown> | Buffer | undefined;
  /** Holes with what fills them, whatever the ids are. */
  fixed: Map<string, string>;
}

/** What a parameter is; null for one that names nothing inside. Throws for one that nobody has thought of. */
function kindOf(where: string, upTo: string): Slot['kind'] | { value: string } {
  const path = `${where} ${upTo}`;
  for (const [pattern, kind] of kinds) if (pattern.test(path)) return kind;
  for (const [pattern, value] of free) if (pattern.test(path)) return { value };
  throw new Error(
    `${path}: this test does not know what its last parameter is. When it belongs to something, add a line to kinds, and ` +
      'its things to test/fixtures/standard-world.ts where they are missing; when not, add a line to free with the reason.',
  );
}

/** The case of a route; null where it names nothing that belongs to something else. */
function caseOf(subject: Subject): Case | null {
  const { method, path, isApi } = subject;
  const where = isApi ? 'api' : 'page';
  const key = `${where} ${method} ${path}`;
  const slots: Slot[] = [];
  const fixed = new Map<string, string>();
  const repository = /^\/(?:repos|git|ap\/repos)\/:owner\/:name\b/.exec(path)?.[0];
  const organisation = /^\/orgs\/:(?:org|name)\b/.exec(path)?.[0];
  const account = /^\/(admin\/users\/:username\b|users\/:username(?=\/tokens\/))/.exec(path)?.[0];
  const outer = repository ?? organisation ?? account ?? '';
  if (path.startsWith('/ap/')) return null;
  if (repository !== undefined) slots.push({ hole: ':owner/:name', kind: 'repository' });
  else if (organisation !== undefined) slots.push({ hole: organisation.slice('/orgs/'.length), kind: 'organisation' });
  else if (account !== undefined) slots.push({ hole: ':username', kind: 'person' });
  else if (/^\/(user|settings|notifications)\//.test(path)) slots.push({ hole: '', kind: 'person' });
  else if (/^\/admin\/(actions\/)?(runners|secrets|variables)\//.test(path)) slots.push({ hole: '', kind: 'instance' });
  const isOuterOnly = slots.length;
  for (const { 0: hole, index } of path.slice(outer.length).matchAll(/:\w+/g)) {
    const kind = kindOf(where, path.slice(0, outer.length + index + hole.length));
    if (typeof kind === 'string') slots.push({ hole, kind });
    else fixed.set(hole, kind.value);
  }
  const body = bodies[key];
  const query = queries[key] ?? '';
  for (const [hole, kind] of (JSON.stringify(body ?? {}) + query).matchAll(/\{([a-z-]+)\}/g))
    slots.push({ hole, kind: kind! });
  // Setting a secret, a variable or an environment makes it.
  const makes = (method === 'PUT' || method === 'POST') && /\/(secrets|variables|environments)\/:\w+$/.test(path);
  return slots.length < 2 || isOuterOnly === slots.length || makes
    ? null
    : { ...subject, path: path + query, key, slots, body, fixed };
}

/** Things for the slots, each inside what was chosen before: one choice after another. */
function* choose(slots: readonly Slot[], chosen: Thing[] = []): Generator<Thing[]> {
  const slot = slots[chosen.length];
  if (slot === undefined) {
    yield chosen;
    return;
  }
  const fits = world.things.filter(
    (thing) =>
      thing.kind === slot.kind &&
      thing.within.every((outer) => chosen.some((each) => same(each, outer))) &&
      (chosen.length > 0 || home.includes(thing.value) || slot.kind === 'person-id'),
  );
  for (const thing of fits) yield* choose(slots, [...chosen, thing]);
}

function* firstOf<Item>(items: Iterable<Item>, count: number): Generator<Item> {
  let taken = 0;
  for (const item of items) {
    yield item;
    taken += 1;
    if (taken === count) return;
  }
}

/** Where a thing is, as the first of its kind elsewhere is chosen by it. */
const placeOf = (thing: Thing): string => thing.within.map(({ kind, value }) => `${kind} ${value}`).join(' > ');

/** What is alice's, by its outermost part. */
const isOwn = ({ value }: Thing): boolean => value.startsWith('alice') || value === 'guild' || value === 'workshop';

/**
 * Choices in which the thing at one place belongs to another parent; what is inside it follows it. One for each sort of
 * place: beside the right one, in another own one, in a foreign one, and in a foreign one of each other kind.
 */
function misplaced(slots: readonly Slot[], right: readonly Thing[], at: number): Thing[][] {
  const own = right[at]!;
  const others = new Map<string, Thing>();
  for (const thing of world.things) {
    if (thing.kind !== own.kind || thing.value === own.value || placeOf(thing) === placeOf(own)) continue;
    const [outer, ownOuter] = [thing.within[0]!, own.within[0]!];
    if (outer.kind !== ownOuter.kind && isOwn(outer)) continue;
    const sort = `${outer.kind} ${same(outer, ownOuter) ? 'itself' : isOwn(outer) ? 'own' : 'foreign'}`;
    if (!others.has(sort)) others.set(sort, thing);
  }
  return [...others.values()].flatMap((thing) => {
    const rest: Thing[] = [...right.slice(0, at), thing];
    for (const slot of slots.slice(at + 1)) {
      const fits = world.things.find(
        (each) =>
          each.kind === slot.kind &&
          (each.within.some((outer) => same(outer, thing)) ||
            each.within.every((outer) => rest.some((one) => same(one, outer)))),
      );
      if (fits === undefined) return [];
      rest.push(fits);
    }
    return [rest];
  });
}

/** Looks like the value, and is none. */
function absentLike(value: string): string {
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-/.test(value)) return '00000000-0000-4000-8000-000000000000';
  if (/^[0-9a-f]{40}$/.test(value)) return '0123456789'.repeat(4);
  if (/^\d+$/.test(value)) return '9'.repeat(Math.max(6, value.length)).slice(0, 15);
  if (/^[A-Z_\d]+$/.test(value)) return 'ABSENT_ONE';
  return value.includes('/') ? 'absent-one/absent' : 'absent-one';
}

interface Answer {
  status: number;
  headers: string;
  body: string;
}

async function ask({ method, path, isApi, slots, body, fixed }: Case, values: readonly string[]): Promise<Answer> {
  const who: WorldPerson = path.startsWith('/admin/') ? world.people.dora : world.people.alice;
  let target = path;
  const file = Buffer.isBuffer(body) ? body : undefined;
  let text = body === undefined || file !== undefined ? undefined : JSON.stringify(body);
  for (const [at, { hole }] of slots.entries()) {
    const value = values[at]!;
    if (hole.startsWith('{')) {
      text = text?.replace(isApi && /^\d+$/.test(value) ? `"${hole}"` : hole, value);
      target = target.replace(hole, encodeURIComponent(value));
    } else if (hole !== '')
      target = target.replace(
        hole,
        hole === ':owner/:name' || /tag|file/i.test(hole) ? value : encodeURIComponent(value),
      );
  }
  for (const [hole, value] of fixed) target = target.replace(hole, value);
  const response: PageResponse = await (isApi
    ? who.call(method, target, file ?? (text === undefined ? (method === 'GET' ? undefined : {}) : JSON.parse(text)))
    : sendRequest(world.web, target, {
        method: method === 'ANY' ? 'GET' : method,
        headers: { Cookie: `hearth_session=${who.session}`, Origin: world.web.origin },
        ...(method === 'POST' && { form: JSON.parse(text ?? '{}') as Record<string, string> }),
      }));
  const { 'x-request-id': _id, date: _date, 'content-length': _length, etag: _etag, ...headers } = response.headers;
  let shown = JSON.stringify(headers) + '\0' + response.body;
  // What the request said may come back; who it means may not.
  for (const [at, value] of values.entries())
    for (const form of new Set([value, encodeURIComponent(value)]))
      if (at > 0) shown = shown.replaceAll(form, `«${at}»`);
  const [shownHeaders, shownBody] = shown.replaceAll(/"request_id":"[^"]*"/g, '').split('\0');
  return { status: response.status, headers: shownHeaders!, body: shownBody! };
}

/** Waits until nothing of the world is being written. */
async function unchanged(): Promise<void> {
  for (let quiet = 0, version = ''; quiet < 5; quiet += 1) {
    const now = JSON.stringify(versionOf());
    if (now !== version) quiet = 0;
    version = now;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const versionOf = (): unknown => database.prepare('PRAGMA data_version').get();
/** What a page that is shown may change. */
const readState = { notifications: 'a shown issue is read', notification_counts: 'with its notifications' };
/** All rows, by table. */
function rows(): Map<string, string> {
  const tables = database.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%' ORDER BY name",
  );
  return new Map(
    (tables.all() as { name: string }[])
      .filter(({ name }) => !name.includes('trigrams') && !(name in readState))
      .map(({ name }) => [
        name,
        JSON.stringify(database.prepare(`SELECT * FROM "${name}"`).all(), (_, value) =>
          value instanceof Uint8Array ? Buffer.from(value).toString('base64') : (value as unknown),
        ),
      ]),
  );
}

/** The rows of one text that the other one has not. */
function difference(before: string, after: string): string {
  const old = new Set((JSON.parse(before) as unknown[]).map((row) => JSON.stringify(row)));
  return (JSON.parse(after) as unknown[])
    .map((row) => JSON.stringify(row))
    .filter((row) => !old.has(row))
    .join(' ')
    .slice(0, 400);
}

t.test('what is named by an id below another id is found there, or answered as if it did not exist', async (t) => {
  const wrong: string[] = [];
  const cases = subjects.flatMap((subject) => {
    try {
      return caseOf(subject) ?? [];
    } catch (error) {
      wrong.push((error as Error).message);
      return [];
    }
  });
  t.ok(cases.length > 200, `${cases.length} routes and operations`);
  const controls: { one: Case; absent: Answer }[] = [];
  let asked = 0;
  await unchanged();
  let before = rows();
  let version = JSON.stringify(versionOf());
  for (const one of cases) {
    const { value: right } = choose(one.slots).next() as IteratorResult<Thing[], undefined>;
    if (right === undefined) {
      wrong.push(`${one.key}: nothing in the world fits ${one.slots.map(({ kind }) => kind).join(', ')}`);
      continue;
    }
    let last: Answer | null = null;
    const absents = new Map<string, Answer>();
    const askAbsent = async (values: readonly string[]): Promise<Answer> => {
      const answer = absents.get(values.join('\0')) ?? (await ask(one, values));
      absents.set(values.join('\0'), answer);
      return answer;
    };
    for (const at of one.slots.keys()) {
      if (at === 0 || right[at]!.within.length === 0) continue;
      const elsewhere = misplaced(one.slots, right, at);
      if (elsewhere.length === 0) wrong.push(`${one.key}: there is no second ${right[at]!.kind}`);
      for (const choice of elsewhere) {
        if (`${one.key} ${isOwn(choice[at]!.within[0]!) ? 'own' : 'foreign'}` in intended) continue;
        const values = choice.map(({ value }) => value);
        const got = await ask(one, values);
        const absent = await askAbsent(values.with(at, absentLike(values[at]!)));
        asked += 1;
        const what = `${one.key} with ${choice[at]!.kind} ${values[at]} of ${placeOf(choice[at]!)}`;
        if (got.status !== absent.status) wrong.push(`${what}: ${got.status}, absent ${absent.status}`);
        else if (got.headers !== absent.headers) wrong.push(`${what}: headers ${got.headers} absent ${absent.headers}`);
        else if (got.body !== absent.body)
          wrong.push(`${what}: ${got.body.slice(0, 300)} absent ${absent.body.slice(0, 300)}`);
      }
      last = await askAbsent(right.map(({ value }, slot) => (slot === at ? absentLike(value) : value)));
      if (JSON.stringify(versionOf()) !== version) {
        version = JSON.stringify(versionOf());
        const after = rows();
        for (const [name, text] of after)
          if (text !== before.get(name))
            wrong.push(`${one.key} changes ${name}: ${difference(before.get(name)!, text)}`);
        before = after;
      }
    }
    // A stream that does not end by itself is asked for what is absent alone.
    if (last !== null && !one.path.endsWith('/live')) controls.push({ one, absent: last });
  }
  t.strictSame(wrong, [], `${asked} requests`);

  // Each of these reaches the thing itself, or the answers above would say nothing. What removes comes last; where it
  // was removed already, the next thing of its kind is asked for.
  const blind: string[] = [];
  const rank = ({ one: { method, path } }: (typeof controls)[number]): number => {
    if (/(move|purge|merge)$|\/issues\/:number\/delete$/.test(path)) return 4;
    if (method === 'DELETE' && /\/(issues|pulls)\/:number$/.test(path)) return 3;
    if (method === 'DELETE' || /delete|remove|end$|close/.test(path)) return 2;
    return method === 'GET' ? 0 : 1;
  };
  for (const { one, absent } of controls.toSorted(
    (one, other) => rank(one) - rank(other) || other.one.path.length - one.one.path.length,
  )) {
    let got: Answer | undefined;
    for (const choice of firstOf(choose(one.slots), choicesOfControl)) {
      got = await ask(
        one,
        choice.map(({ value }) => value),
      );
      if (got.status !== absent.status || got.headers !== absent.headers || got.body !== absent.body) {
        got = undefined;
        break;
      }
    }
    if (got !== undefined) blind.push(`${one.key}: ${got.status} ${got.body.slice(0, 200)}`);
  }
  t.comment(blind.join('\n'));
  t.strictSame(
    blind.filter((text) => !withoutControl.has(text.slice(0, text.indexOf(': ')))),
    [],
    'the right ids are answered otherwise',
  );
});
