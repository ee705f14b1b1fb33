// Pull requests in the export bundle, and back: equal logs, rounds, reviews and threads; damaged bundles.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import type { PersonViewer } from '../../src/access/index.ts';
import type { Modules } from '../../src/app/index.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { announced } from '../pulls/pulls-fixture.ts';
import { twoInstances } from './two-instances.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(240_000);

const { folder, here, there, git, modulesOf } = twoInstances(t);
for (const hearth of [here, there]) {
  await hearth('migrate', '-q');
  await hearth('user', 'add', 'alice', '--password-stdin');
}
await here('user', 'add', 'bob', '--password-stdin');
await here('user', 'add', 'carol', '--password-stdin');
await here('repo', 'add', 'alice/flow');
const modules = await modulesOf('here');
const { repositories, issues, pulls } = modules;

const viewer = async (username: string): Promise<PersonViewer> => {
  const { id } = (await modules.accounts.personByUsername(username))!;
  return {
    kind: 'person',
    id,
    username,
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  };
};
const [alice, bob, carol] = [await viewer('alice'), await viewer('bob'), await viewer('carol')];
const at = (number: number, name = 'flow') => ({ owner: 'alice', name, number });
const flow = { owner: 'alice', name: 'flow' };
for (const username of ['bob', 'carol'])
  await repositories.collaborators.add(alice, 'alice', 'flow', { username, role: 'write' });

/** Commits a file as a person does on a page, and waits until the push is announced. */
async function change(who: PersonViewer, file: string, content: string, more: object = {}): Promise<void> {
  const operations = [{ kind: 'put', path: file, content: Buffer.from(content) } as const];
  await repositories.contents.change(who, 'alice', 'flow', { operations, ...more });
  await announced(modules);
}
const numbered = (changes: Record<number, string> = {}) =>
  Array.from({ length: 20 }, (_, line) => `${changes[line + 1] ?? line + 1}\n`).join('');

await change(alice, 'a.txt', numbered());
await issues.open(alice, flow, { title: 'It rains in' });

// A pull request with everything: two rounds, reviews, threads, a dismissal, requests; merged.
await change(bob, 'a.txt', numbered({ 10: 'ten' }), { branch: 'main', newBranch: 'topic' });
await pulls.open(bob, flow, { title: 'Mend the roof', body: 'Closes #1, @carol', head: 'topic', base: 'main' });
const onLine = (line: number, body: string, more: object = {}) => ({
  ...{ round: 1, path: 'a.txt', side: 'NEW' as const, firstLine: line, lastLine: line, body, sendNow: false },
  ...more,
});
await pulls.attention.request(bob, at(2), { add: ['carol', 'alice'] });
for (const comment of [onLine(10, 'why ten?'), onLine(9, 'and nine?'), onLine(10, 'the old one', { side: 'OLD' })])
  await pulls.reviews.addComment(carol, at(2), comment);
await pulls.reviews.submit(carol, at(2), { verdict: 'REQUEST_CHANGES', body: 'Not yet', round: 1 });
const threadsNow = await pulls.threads.list(carol, at(2));
const [first, second] = threadsNow.map(({ id }) => id);
await pulls.reviews.addComment(bob, at(2), { round: 1, threadId: first!, body: 'Because', sendNow: true });
await pulls.reviews.editComment(bob, at(2), { threadId: first!, position: 2, body: 'Because of the **rain**' });
await pulls.threads.resolve(bob, at(2), { threadId: second!, resolved: true });
await change(bob, 'a.txt', numbered({ 1: 'one', 10: 'ten, then' }), { branch: 'topic' });
const [review] = await pulls.reviews.list(alice, at(2));
await pulls.reviews.dismiss(alice, at(2), { reviewId: review!.id, reason: 'carol is away' });
await pulls.reviews.submit(alice, at(2), { verdict: 'APPROVE', body: 'Good', round: 2 });
await pulls.reviews.addComment(carol, at(2), onLine(10, 'a draft that only carol sees', { round: 2 }));
await pulls.merge(alice, at(2), { style: 'squash', round: 2 });
await announced(modules);
// One that is open, of a branch whose base went on; one that is closed; one that is a draft.
await change(carol, 'b.txt', 'b\n', { branch: 'main', newBranch: 'later' });
await pulls.open(carol, flow, { title: 'Later', body: '', head: 'later', base: 'main' });
await change(alice, 'c.txt', 'c\n', { branch: 'main' });
await change(bob, 'd.txt', 'd\n', { branch: 'main', newBranch: 'never' });
await pulls.open(bob, flow, { title: 'Never', body: '', head: 'never', base: 'main' });
await issues.close(bob, at(4));
await change(bob, 'e.txt', 'e\n', { branch: 'main', newBranch: 'draft' });
await pulls.open(bob, flow, { title: 'Unready', body: '', head: 'draft', base: 'main', isDraft: true });

// A stack of two: what the upper one adds begins at the head of the lower one.
await change(bob, 'f.txt', 'f\n', { branch: 'main', newBranch: 'below' });
await pulls.open(bob, flow, { title: 'Below', body: '', head: 'below', base: 'main' });
await change(bob, 'g.txt', 'g\n', { branch: 'below', newBranch: 'above' });
await pulls.open(bob, flow, { title: 'Above', body: '', head: 'above', base: 'main' });
await issues.addLink(bob, at(7), 'needs', at(6));
// The upper one gets a round whose base is the lower one, in the background.
await waitUntil(async () => (await pulls.find(bob, at(7))).pull.stackedOnOid !== null);
await announced(modules);

/** All that a reader sees of a pull request. @param who a name for an account that is none */
async function seen({ issues: talk, pulls: code }: Modules, place: ReturnType<typeof at>): Promise<object> {
  const by = localAdministrator;
  const { issue, pull } = await code.find(by, place);
  const { id: _id, repositoryId: _r, origin: _o, ...fields } = issue;
  const { entries } = await talk.listEntries(by, place);
  const rounds = await code.rounds.list(by, place);
  const { headRepositoryId, mergeState: _m, mergeStateOnto: _onto, conflicts: _c, ...row } = pull;
  return {
    issue: fields,
    pull: { ...row, repositoryId: null, mergePushId: null, mergeStateReason: null, isOwn: headRepositoryId !== null },
    entries: entries.map(({ via: _via, origin: _origin, announcedAt: _at, other, ...entry }) => ({
      ...entry,
      other: other?.number,
    })),
    rounds: rounds.map(({ pushId: _push, bytes: _bytes, ...round }) => round),
    commits: await Promise.all(rounds.map(({ round }) => code.rounds.commits(by, place, round))),
    reviews: await code.reviews.list(by, place),
    threads: await code.threads.list(by, place),
    requested: await code.attention.requested(by, place),
    stack: await code.stack(by, place),
  };
}

/** With each id as the order in which it is seen first. */
function withoutIds(value: unknown): unknown {
  const known = new Map<string, string>();
  const text = JSON.stringify(value).replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
    if (!known.has(id)) known.set(id, `id ${known.size}`);
    return known.get(id)!;
  });
  return JSON.parse(text);
}

let read = 0;

/** The files of a bundle about issues and pull requests. @param isOther whether another instance wrote it */
function filesOf(bundle: string, isOther: boolean): Record<string, unknown> {
  const bare = path.join(folder, `${bundle}.${(read += 1)}.files`);
  git(folder, 'clone', '--quiet', '--mirror', bundle, bare);
  git(bare, 'fetch', '--quiet', path.join(folder, bundle), 'refs/hearth/meta');
  const names = git(bare, 'ls-tree', '-r', '--name-only', 'FETCH_HEAD').split('\n');
  const strip = (key: string, value: unknown): unknown => {
    if (key === 'seal' || key === 'repository') return undefined;
    // A request and an assignment name an account, which another instance does not have.
    if (isOther && (key === 'requests' || key === 'assignees')) return undefined;
    if (isOther && key === 'id' && typeof value === 'string') return undefined;
    return value;
  };
  return Object.fromEntries(
    names
      .filter((name) => /^(?:issues|pulls|reviews)(?:\/|\.json)/.test(name))
      .map((name) => {
        const content = git(bare, 'show', `FETCH_HEAD:${name}`);
        return [
          name,
          name.endsWith('.md')
            ? content
            : withoutIds(
                JSON.parse(content, function (this: object, key, value) {
                  return strip.call(this, key, value);
                }),
              ),
        ];
      }),
  );
}

const numbers = [2, 3, 4, 5, 6, 7];

/** The fields of a file that a damaged bundle changes. */
interface DamagedFile {
  number: number;
  kind: string;
  mergedAt: string;
  entries: object[];
  rounds: { headOid: string; createdAt: string }[];
  threads: { id: string; comments: { review: string }[] }[];
}

t.test('an export and its import give equal logs on the same instance', async (t) => {
  const written = await here('export', 'alice/flow', 'flow.bundle');
  t.match(written, { code: 0, stdout: /7 branches and tags, 6 pull requests/, stderr: '' });
  t.match(await here('import', 'flow.bundle', 'alice/copy'), {
    code: 0,
    stdout: /1 issues, 6 pull requests/,
    stderr: '',
  });
  await announced(modules);
  for (const username of ['bob', 'carol'])
    await repositories.collaborators.add(alice, 'alice', 'copy', { username, role: 'write' });
  for (const number of numbers)
    t.strictSame(
      withoutIds(await seen(modules, at(number, 'copy'))),
      withoutIds(await seen(modules, at(number))),
      `#${number}`,
    );
  const [below, above] = [await pulls.find(alice, at(6, 'copy')), await pulls.find(alice, at(7, 'copy'))];
  t.equal(above.pull.stackedOnOid, below.pull.headOid, 'the commit on which the stack stands is in the bundle');
  t.same(
    (await pulls.stack(alice, at(7, 'copy'))).map(({ number, below: lower }) => ({ number, lower })),
    [
      { number: 6, lower: [] },
      { number: 7, lower: [6] },
    ],
  );
  await here('export', 'alice/copy', 'copy.bundle');
  t.strictSame(filesOf('copy.bundle', false), filesOf('flow.bundle', false), 'and so are the files of another export');

  const { path: bare } = await repositories.find(alice, 'alice', 'copy');
  const heads = git(bare, 'for-each-ref', '--format=%(refname)', 'refs/pull').trim().split('\n');
  t.strictSame(
    heads,
    numbers.map((number) => `refs/pull/${number}/head`),
  );
  const rows = await pulls.rounds.list(alice, at(2, 'copy'));
  git(bare, 'gc', '--quiet', '--prune=now');
  for (const { headOid, baseOid } of rows) for (const oid of [headOid, baseOid]) git(bare, 'cat-file', '-e', oid);
  t.equal((await pulls.threads.list(carol, at(2, 'copy'))).length, 3, 'drafts stay behind');
  t.match(await pulls.find(alice, at(2, 'copy')), { issue: { state: 'MERGED' }, pull: { mergeStyle: 'SQUASH' } });
});

t.test('what was imported goes on: a round, a review, a merge', async (t) => {
  const box = await pulls.mergeBox(alice, at(3, 'copy'));
  t.ok(box);
  await pulls.reviews.submit(bob, at(3, 'copy'), { verdict: 'APPROVE', body: '', round: 1 });
  await repositories.contents.change(alice, 'alice', 'copy', {
    operations: [{ kind: 'put', path: 'b.txt', content: Buffer.from('bb\n') }],
    branch: 'later',
  });
  await announced(modules);
  t.equal((await pulls.find(alice, at(3, 'copy'))).pull.lastRound, 2);
  await pulls.merge(alice, at(3, 'copy'), { style: 'merge', round: 2 });
  await announced(modules);
  t.equal((await issues.pulls.find(alice, at(3, 'copy'))).issue.state, 'MERGED');
});

t.test('on another instance, people are names', async (t) => {
  t.match(await there('import', 'flow.bundle'), { code: 0, stdout: /6 pull requests/, stderr: '' });
  const other = await modulesOf('there');
  const pull = (await seen(other, at(2))) as { [name: string]: { [name: string]: unknown }[] };
  t.match(pull['issue'], { authorId: null, authorName: 'bob', state: 'MERGED', number: 2 });
  t.match(pull['pull'], { submitterId: null, submitterName: 'bob', mergedBy: null, mergedByName: 'alice' });
  t.match(pull['rounds'], [{ submitterName: 'bob' }, { submitterName: 'bob' }]);
  t.match(pull['reviews']![0], { authorName: 'carol', dismissedByName: 'alice', verdict: 'REQUEST_CHANGES' });
  t.match(pull['threads']![0], { comments: [{ authorName: 'carol' }, { authorName: 'bob' }] });
  t.ok(pull['threads']!.some(({ resolvedByName }) => resolvedByName === 'bob'));
  t.strictSame(pull['requested'], [], 'a request names an account');
  t.ok(
    pull['entries']!.some(
      ({ kind, details }) =>
        kind === 'asked' && (details as object) && (details as { userName?: string }).userName === 'carol',
    ),
    'the log says whose review was asked for',
  );
  await there('export', 'alice/flow', 'there.bundle');
  t.strictSame(filesOf('there.bundle', true), filesOf('flow.bundle', true), 'its export says the same');
  await there('import', 'there.bundle', 'alice/again');
  await there('export', 'alice/again', 'again.bundle');
  t.strictSame(filesOf('again.bundle', false), filesOf('there.bundle', false), 'nothing is lost by one import more');
});

t.test('a second import brings up to date, and leaves what went on here', async (t) => {
  const other = await modulesOf('there');
  await change(carol, 'b.txt', 'b, later\n', { branch: 'later' });
  await pulls.reviews.submit(bob, at(3), { verdict: 'APPROVE', body: 'Fine', round: 2 });
  await pulls.merge(bob, at(3), { style: 'merge', round: 2 });
  await announced(modules);
  await here('export', 'alice/flow', 'flow.bundle', '--replace');
  t.match(await there('import', 'flow.bundle', 'alice/flow', '--issues'), { code: 0, stdout: /7 updated/ });
  t.match(await other.pulls.find(localAdministrator, at(3)), { issue: { state: 'MERGED' }, pull: { lastRound: 2 } });
  t.match(await other.pulls.reviews.list(localAdministrator, at(3)), [{ authorName: 'bob', body: 'Fine' }]);
  t.equal((await other.pulls.reviews.list(localAdministrator, at(2))).length, 3, 'and nothing comes twice');
  // The copy here has merged #3 by itself, in other rounds.
  const before = withoutIds(await seen(modules, at(3, 'copy')));
  t.match(await here('import', 'flow.bundle', 'alice/copy', '--issues'), { code: 0, stdout: /6 updated/ });
  t.strictSame(withoutIds(await seen(modules, at(3, 'copy'))), before, 'as it was');
});

t.test('a team that was asked is in the bundle, and is asked where it has a role', async (t) => {
  const { organisations } = modules;
  const team = { organisation: 'guild', name: 'glazers' };
  await organisations.create(alice, { name: 'guild' });
  await organisations.teams.create(alice, 'guild', { name: 'glazers' });
  await organisations.teams.addMember(alice, team, 'carol');
  await repositories.create(alice, { owner: 'guild', name: 'barn', visibility: 'PRIVATE' });
  const put = { operations: [{ kind: 'put', path: 'a.txt', content: Buffer.from('a\n') } as const] };
  await repositories.contents.change(alice, 'guild', 'barn', put);
  await repositories.contents.change(alice, 'guild', 'barn', {
    operations: [{ kind: 'put', path: 'b.txt', content: Buffer.from('b\n') }],
    branch: 'main',
    newBranch: 'topic',
  });
  await repositories.teams.setRole(alice, team, { owner: 'guild', name: 'barn' }, 'write');
  const barn = { owner: 'guild', name: 'barn', number: 1 };
  await pulls.open(alice, barn, { title: 'Glass', body: '', head: 'topic', base: 'main' });
  await pulls.attention.request(alice, barn, { add: ['guild/glazers'] });
  await announced(modules);
  t.match(await here('export', 'guild/barn', 'barn.bundle'), { code: 0 });
  t.match(await here('import', 'barn.bundle', 'guild/copy'), { code: 0 });
  await announced(modules);
  const copy = { ...barn, name: 'copy' };
  const asked = async (place: typeof barn) =>
    (await issues.listEntries(alice, place)).entries
      .filter(({ kind }) => kind === 'asked')
      .map(({ team: named, details, createdAt }) => ({ named, details, createdAt }));
  t.same(await asked(copy), await asked(barn));
  t.match(await asked(copy), [{ named: { organisation: 'guild', team: 'glazers' } }]);
  t.same(await pulls.attention.requestedTeams(alice, copy), [], 'it has no role there');
  await repositories.teams.setRole(alice, team, { owner: 'guild', name: 'copy' }, 'read');
  t.match(await here('import', 'barn.bundle', 'guild/copy', '--issues'), { code: 0 });
  t.match(await pulls.attention.requestedTeams(alice, copy), [{ team: 'glazers', answeredAt: null }]);
});

t.test('what is wrong with a bundle is said, and nothing is made', async (t) => {
  const work = path.join(folder, 'damaged.git');
  git(folder, 'clone', '--quiet', '--bare', 'flow.bundle', work);
  git(work, 'fetch', '--quiet', '../flow.bundle', '+refs/hearth/*:refs/hearth/*');
  const meta = git(work, 'rev-parse', 'refs/hearth/meta').trim();
  const index = { ...clientEnvironment, GIT_DIR: work, GIT_INDEX_FILE: path.join(work, 'test-index') };
  const run = (args: string[], input = '') =>
    execFileSync('git', args, { cwd: work, env: index, input, encoding: 'utf8' }).trim();
  /** Writes a bundle in which one file of the metadata is another; null removes it. */
  const damage = (file: string, edit: (content: string) => string | null): void => {
    run(['read-tree', meta]);
    const content = edit(run(['show', `${meta}:${file}`]));
    if (content === null) run(['update-index', '--index-info'], `0 ${'0'.repeat(40)}\t${file}\n`);
    else {
      const blob = run(['hash-object', '-w', '--stdin'], content);
      run(['update-index', '--add', '--cacheinfo', `100644,${blob},${file}`]);
    }
    run(['update-ref', 'refs/hearth/meta', run(['commit-tree', run(['write-tree']), '-m', 'x'])]);
    run(['bundle', 'create', '--quiet', path.join(folder, 'damaged.bundle'), '--all']);
  };
  const json = (edit: (value: DamagedFile) => void) => (content: string) => {
    const value = JSON.parse(content) as DamagedFile;
    edit(value);
    return JSON.stringify(value);
  };
  let tries = 0;
  const refused = async (t: Test, file: string, edit: (content: string) => string | null, words: RegExp) => {
    damage(file, edit);
    const name = `alice/damaged${(tries += 1)}`;
    const { code, stderr } = await there('import', 'damaged.bundle', name);
    t.strictSame([code, (await there('repo', 'show', name)).code], [2, 3], `${file}: ${words}`);
    t.match(stderr, words);
    t.match(stderr, /Nothing was imported/);
  };
  await refused(t, 'reviews/2.json', () => '{', /reviews\/2\.json is not JSON/);
  await refused(t, 'reviews/2.json', () => null, /reviews\/2\.json is missing/);
  await refused(
    t,
    'reviews/2.json',
    json((file) => file.rounds.splice(0, 1)),
    /has the round 2 where 1 should be/,
  );
  await refused(
    t,
    'reviews/2.json',
    json((file) => (file.rounds = [])),
    /not as it should be at rounds/,
  );
  await refused(
    t,
    'reviews/2.json',
    json((file) => file.rounds.pop()),
    /of the round 2, which is missing/,
  );
  await refused(
    t,
    'reviews/2.json',
    json((file) => (file.rounds[1]!.headOid = 'a'.repeat(40))),
    /lacks the commits of the round 2/,
  );
  await refused(
    t,
    'reviews/2.json',
    json((file) => (file.threads[0]!.comments[0]!.review = file.threads[0]!.id)),
    /comment of a review that is missing/,
  );
  await refused(
    t,
    'reviews/2.json',
    json((file) => file.threads.push(file.threads[0]!)),
    /has a thread twice/,
  );
  await refused(
    t,
    'reviews/2.json',
    json((file) => (file.number = 3)),
    /has the number 3/,
  );
  await refused(
    t,
    'reviews/5.json',
    json((file) => (file.mergedAt = file.rounds[0]!.createdAt)),
    /has the other state/,
  );
  await refused(
    t,
    'pulls/2.json',
    json((file) => (file.kind = 'issue')),
    /of the other kind|is merged and no pull request/,
  );
  await refused(
    t,
    'issues/1.json',
    json((file) => file.entries.push({ ...file.entries[0], position: 90, kind: 'merged' })),
    /entry of pull requests/,
  );

  await there('repo', 'add', 'alice/taken');
  const other = await modulesOf('there');
  await other.issues.open(localAdministrator, { owner: 'alice', name: 'taken' }, { title: 'Mine' });
  t.match(await there('import', 'flow.bundle', 'alice/taken', '--issues'), {
    code: 4,
    stderr: /the repository has another issue #1/,
  });
  t.match(
    await other.issues.count((await other.repositories.find(localAdministrator, 'alice', 'taken')).repository.id),
    {
      openIssues: 1,
      openPulls: 0,
      closedPulls: 0,
    },
  );
});
