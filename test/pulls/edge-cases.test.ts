// time limit: 300 s
// What a pull request is made of goes or changes (collaboration §4.2, §13): branches, forks, people, the repository;
// and code that is made to hurt. Every page and operation answers, with words.
import t from 'tap';
import { personViewer } from '../../src/access/index.ts';
import type { PersonViewer } from '../../src/access/index.ts';
import { measureCpuTime, mainThreadMs } from '../fixtures/thread-cpu.ts';
import { reasonOf } from '../repositories/repositories-fixture.ts';
import type { TaskRequest } from '../../src/workers/index.ts';
import { startRaceFixture } from './races-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(240_000);
const races = await startRaceFixture(t);
const { modules, alice, bob, open, tipOf, stateOf } = races;
const { pulls, issues, repositories, accounts, git } = modules;
const style = { style: 'merge', round: 1 };
const sessionOf = async ({ id }: PersonViewer) =>
  (await accounts.startSession(id, { address: '127.0.0.1', userAgent: 'test' })).secret;
const sessions = { alice: await sessionOf(alice), bob: await sessionOf(bob) };
type Place = { owner: string; name: string; number: number };

async function ask(who: keyof typeof sessions | null, address: string, form?: Record<string, string>) {
  const response = await fetch(races.origin + address, {
    method: form === undefined ? 'GET' : 'POST',
    redirect: 'manual',
    headers: {
      ...(who === null ? {} : { cookie: `hearth_session=${sessions[who]}` }),
      ...(form === undefined ? {} : { origin: races.origin }),
    },
    ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
  });
  return { status: response.status, location: response.headers.get('location'), text: await response.text() };
}

async function call(who: 'alice' | 'bob', method: string, address: string, body?: unknown) {
  const response = await fetch(`${races.origin}/api/v1${address}`, {
    method,
    headers: { authorization: `Bearer ${races.tokens[who]}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

const pages = ['', '/changes', '/commits', '.diff', '.patch', '.json', '.md', '.atom', '/changes?from=1&to=1'];
const operations = ['', '/commits', '/files', '/rounds', '/rounds/1', '/reviews', '/merge', '.diff'];
/** Forms with input that no state takes, so that none of them changes anything. */
const forms: [name: string, fields: Record<string, string>][] = [
  ['merge', { style: 'merge', round: '99' }],
  ['cancel-merge', {}],
  ['queue', {}],
  ['reviewers', { add: 'no-such-person' }],
  ['dismiss', { review: 'none', reason: 'x' }],
  ['update', { style: 'merge', round: '99' }],
  ['retarget', { base: 'no-such-branch' }],
  ['branch', { action: 'none' }],
  ['review', { verdict: 'NONE', round: '99' }],
  ['review/comments', { round: '99', body: 'x' }],
  ['review/comments/edit', { thread: 'none', position: '1', body: 'x' }],
  ['review/comments/delete', { thread: 'none', position: '1' }],
  ['threads/none', { resolved: '1' }],
  ['viewed', { path: 'none', old: 'x', new: 'y', round: '99' }],
  ['apply', { comment: 'none:1', round: '99' }],
  ['comments', { body: '' }],
];

/** Asks everything there is about a pull request. Returns what answered with a fault, or otherwise than it should. */
async function sweep(
  { owner, name, number }: Place,
  expected: { page: number; form?: 'hidden'; not?: Record<string, number> },
): Promise<string[]> {
  const wrong: string[] = [];
  const note = (what: string, status: number, fine: boolean): void => void (fine || wrong.push(`${what}: ${status}`));
  const page = `/repos/${owner}/${name}/pulls`;
  for (const at of pages) {
    const { status } = await ask('alice', `${page}/${number}${at}`);
    note(at || 'page', status, status === (expected.not?.[at] ?? expected.page));
  }
  for (const at of ['', '.atom', `/new`]) {
    const { status } = await ask('alice', `${page}${at}`);
    note(`list${at}`, status, status === (expected.not?.[at] ?? expected.page));
  }
  for (const at of operations) {
    const { status } = await call('alice', 'GET', `${page}/${number}${at}`);
    // A pull request that is not merged is absent there.
    note(`API ${at}`, status, status === expected.page || (at === '/merge' && [204, 404].includes(status)));
  }
  for (const [at, fields] of forms) {
    const { status } = await ask('alice', `${page}/${number}/${at}`, fields);
    note(`form ${at}`, status, expected.form === 'hidden' ? status === expected.page : status < 500);
  }
  return wrong;
}

t.test('head branch, fork, base branch and person are gone: pages answer, and say what to do', async (t) => {
  const clone = await races.repository('gone');
  const { at, head } = await open(clone, 'gone', { 'b.txt': 'b\n' });
  await clone.push('origin', ':refs/heads/topic');
  t.same(await sweep(at, { page: 200 }), [], 'the head branch');
  t.equal(await reasonOf(pulls.updateBranch(alice, at, { style: 'MERGE', round: 1 })), 'head_gone');
  t.match((await ask('alice', `/repos/alice/gone/pulls/${at.number}`)).text, /restore/i, 'a button restores it');
  await pulls.restoreBranch(alice, at);
  t.equal(await tipOf('gone', 'topic'), head);

  await clone.git('branch', 'old', 'origin/main');
  await clone.push('--quiet', 'origin', 'old');
  const onto = await open(clone, 'gone', { 'c.txt': 'c\n' }, { branch: 'onto-old', base: 'old' });
  await clone.push('origin', ':refs/heads/old');
  t.same(await sweep(onto.at, { page: 200 }), [], 'the base branch');
  t.match(await pulls.mergeStateOf(alice, onto.at), { mergeState: 'UNKNOWN', mergeStateReason: 'no_base' });
  const refused = await pulls.merge(alice, onto.at, style).catch((error: Error) => error);
  t.match(refused, { reason: 'merge_blocked', message: /base branch|old/i });
  t.match(await call('alice', 'POST', `/repos/alice/gone/pulls/${onto.at.number}/merge`, { Do: 'merge' }), {
    status: 409,
  });
  t.match(await stateOf(onto.at), { state: 'OPEN' }, 'it closes nothing');
  await pulls.edit(alice, onto.at, { base: 'main' });
  await pulls.merge(alice, onto.at, { ...style, round: (await stateOf(onto.at)).rounds });

  // A fork, in the trash and then for good; who had it goes, too.
  const { id } = await accounts.addPerson({ username: 'carol' });
  const carol = { ...personViewer(id, 'admin'), username: 'carol' };
  await repositories.forks.create(carol, 'alice', 'gone', {});
  const fork = await repositories.find(carol, 'carol', 'gone');
  await waitUntil(async () => (await git.refs.list(fork.path)).has('refs/heads/main'), 'the fork');
  const mine = await repositories.branches.create(carol, 'carol', 'gone', { name: 'mine', from: 'topic' });
  const forked = await pulls.open(
    carol,
    { owner: 'alice', name: 'gone' },
    { title: 'Mine', head: `carol:${mine}`, base: 'main' },
  );
  const ofFork = { ...at, number: forked.issue.number };
  await repositories.trash.move(carol, 'carol', 'gone');
  t.same(await sweep(ofFork, { page: 200 }), [], 'the fork is in the trash');
  t.equal(await reasonOf(pulls.updateBranch(carol, ofFork, { style: 'MERGE', round: 1 })), 'head_gone');
  await repositories.trash.restore(carol, fork.repository.id);
  await repositories.trash.move(carol, 'carol', 'gone');
  t.equal(await repositories.trash.empty(-1), 1);
  await accounts.deletePerson(id);
  t.same(await sweep(ofFork, { page: 200 }), [], 'the fork and its owner are gone');
  t.match(await pulls.find(alice, ofFork), { issue: { authorId: null }, pull: { submitterId: null } });
  const { text } = await ask(null, `/repos/alice/gone/pulls/${ofFork.number}`);
  t.notMatch(text, /carol/, 'a deleted account is not named');
  await pulls.merge(alice, ofFork, { ...style, round: (await stateOf(ofFork)).rounds });
  t.match(await stateOf(ofFork), { state: 'MERGED' }, 'its commits are here, and are merged');
});

t.test(
  'the repository is renamed, given away, private, archived, in the trash: 404, the new place, or words',
  async (t) => {
    const clone = await races.repository('house');
    const { at } = await open(clone, 'house', { 'b.txt': 'b\n' });
    const theirs = await races.clone('house', 'bob');
    await theirs.commit('d.txt', 'd\n');
    t.equal((await theirs.push('origin', 'HEAD:refs/for/main')).code, 0);
    await races.announced();

    await repositories.rename(alice, 'alice', 'house', 'home');
    const home = { ...at, name: 'home' };
    t.same(await sweep(home, { page: 200 }), [], 'at its new name');
    for (const [address, form] of [
      [`/repos/alice/house/pulls/${at.number}`],
      [`/repos/alice/house/pulls/${at.number}/changes`],
      [`/repos/alice/house/pulls/${at.number}/merge`, { style: 'merge', round: '1' }],
    ] as [string, Record<string, string>?][]) {
      const old = await ask('alice', address, form);
      // A form is sent again to the new address; everything else is only read.
      t.equal(old.status, form === undefined ? 301 : 307, address);
      t.match(old.location, /\/repos\/alice\/home\/pulls\//);
    }
    t.match(await stateOf(home), { state: 'OPEN' }, 'the form of the old address has merged nothing');

    await repositories.changeVisibility(alice, 'alice', 'home', 'PRIVATE');
    t.same(await sweep(home, { page: 200 }), [], 'private, for its owner');
    for (const address of ['', '/1', '/1/changes', '/1.diff', '/2', '/2/commits']) {
      const hidden = await ask('bob', `/repos/alice/home/pulls${address}`);
      t.equal(hidden.status, 404, `bob: ${address}`);
      t.equal(hidden.text, (await ask('bob', `/repos/alice/nothing/pulls${address}`)).text, 'as if absent');
    }
    t.equal((await ask('bob', '/repos/alice/home/pulls/2/comments', { body: 'Hello' })).status, 404);
    t.equal((await call('bob', 'GET', '/repos/alice/home/pulls/2')).status, 404);
    t.notMatch((await ask('bob', '/dashboard/pulls')).text, /home/, 'nor on a dashboard');
    await theirs.commit('d.txt', 'more\n');
    t.not(
      (await theirs.push(races.url('home').replace('://', `://bob:${races.tokens.bob}@`), 'HEAD:refs/for/main')).code,
      0,
    );
    await repositories.changeVisibility(alice, 'alice', 'home', 'PUBLIC');

    await repositories.setArchived(alice, 'alice', 'home', true);
    t.same(await sweep(home, { page: 200, not: { '/new': 403 } }), [], 'archived');
    const forbidden: [string, () => Promise<unknown>][] = [
      ['merge', () => pulls.merge(alice, home, style)],
      ['edit', () => pulls.edit(alice, home, { isDraft: true })],
      ['update', () => pulls.updateBranch(alice, home, { style: 'MERGE', round: 1 })],
      ['review', () => pulls.reviews.submit(bob, home, { verdict: 'APPROVE', body: '', round: 1 })],
      ['open', () => pulls.open(bob, { owner: 'alice', name: 'home' }, { title: 'x', head: 'topic' })],
      ['ask', () => pulls.attention.request(alice, home, { add: ['bob'] })],
      ['when ready', () => pulls.mergeWhenReady(alice, home, style)],
    ];
    for (const [what, work] of forbidden)
      t.match(await reasonOf(work()), /repository_archived|pull_exists/, `archived: ${what}`);
    await repositories.setArchived(alice, 'alice', 'home', false);

    await accounts.addPerson({ username: 'dora' });
    const dora = { ...personViewer((await accounts.personByUsername('dora')).id, 'admin'), username: 'dora' };
    await repositories.transfers.start(alice, 'alice', 'home', 'dora');
    await repositories.transfers.accept(dora, (await repositories.find(alice, 'alice', 'home')).repository.id);
    const given = { ...home, owner: 'dora' };
    t.match(await pulls.find(dora, given), { issue: { state: 'OPEN' } });
    t.equal((await ask('alice', `/repos/dora/home/pulls/${at.number}`)).status, 200);
    t.match((await ask('alice', `/repos/alice/home/pulls/${at.number}`)).location, /\/repos\/dora\/home\/pulls\/1/);
    await pulls.merge(dora, given, style);
    t.match(await pulls.find(dora, given), { issue: { state: 'MERGED' } });
    await repositories.trash.move(dora, 'dora', 'home');
    t.same(await sweep(given, { page: 404, form: 'hidden' }), [], 'in the trash');
  },
);

/** Commits of no work tree, from a stream for git fast-import, pushed by alice. */
async function imported(clone: Awaited<ReturnType<typeof races.clone>>, stream: string, ...branches: string[]) {
  const { execFileSync } = await import('node:child_process');
  execFileSync('git', ['fast-import', '--quiet', '--force'], { cwd: clone.folder, input: stream });
  const { code, stderr } = await clone.push('--quiet', '--force', 'origin', ...branches);
  if (code !== 0) throw new Error(stderr);
}

const who = 'committer Alice <alice@example.org> 1700000000 +0000';
const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

t.test('no common ancestor, nothing, 10,000 commits, many files, criss-cross', async (t) => {
  const clone = await races.repository('odd');
  const at = { owner: 'alice', name: 'odd' };
  await imported(
    clone,
    `commit refs/heads/other\n${who}\n${data('Other')}M 100644 inline o.txt\n${data('o\n')}`,
    'other',
  );
  const other = await pulls.open(alice, at, { title: 'Another root', head: 'other' });
  const unrelated = { ...at, number: other.issue.number };
  t.match(await pulls.mergeStateOf(alice, unrelated), { mergeState: 'UNRELATED' });
  t.match(await pulls.merge(alice, unrelated, style).catch((error: Error) => error), {
    reason: 'merge_blocked',
    message: /no common/,
  });
  t.same(await sweep(unrelated, { page: 200 }), [], 'no common ancestor');

  await clone.git('branch', 'same', 'origin/main');
  await clone.push('--quiet', 'origin', 'same');
  t.equal(await reasonOf(pulls.open(alice, at, { title: 'Nothing', head: 'same' })), 'nothing_to_merge');
  const bobs = await races.clone('odd', 'bob');
  t.match((await bobs.push('origin', 'HEAD:refs/for/main')).stderr, /main has this commit already/);

  const base = (await tipOf('odd'))!;
  const many = Array.from(
    { length: 10_000 },
    (_, n) =>
      `commit refs/heads/many\n${who}\n${data(`Change ${n}`)}${n === 0 ? `from ${base}\n` : ''}M 100644 inline many.txt\n${data(`${n}\n`)}`,
  );
  await imported(clone, many.join(''), 'many');
  const startedAt = performance.now();
  const long = { ...at, number: (await pulls.open(alice, at, { title: 'Many', head: 'many' })).issue.number };
  t.match(await pulls.rounds.list(alice, long), [{ commitCount: 10_000 }]);
  t.same(await sweep(long, { page: 200, not: { '.patch': 422 } }), [], '10,000 commits, which are too many mails');
  t.match(await pulls.merge(alice, long, { style: 'rebase', round: 1 }).catch((error: Error) => error), {
    reason: 'merge_blocked',
    message: /more than \d+ commits/,
  });
  await pulls.merge(alice, long, { style: 'squash', round: 1 });
  t.ok(performance.now() - startedAt < 60_000, 'in time');

  // Two branches that were merged into each other have two merge bases.
  const start = (await tipOf('odd'))!;
  await clone.git('fetch', '--quiet', 'origin');
  const lines = (one: string, two: string): string => `${one}\n${'same\n'.repeat(20)}${two}\n`;
  const commit = (branch: string, mark: number, from: string, message: string, text: string, merge = '') =>
    `commit refs/heads/${branch}\nmark :${mark}\n${who}\n${data(message)}from ${from}\n${merge}M 100644 inline x.txt\n${data(text)}`;
  await imported(
    clone,
    commit('left', 1, start, 'x', lines('a', 'z')) +
      commit('left', 2, ':1', 'left', lines('left', 'z')) +
      commit('right', 3, ':1', 'right', lines('a', 'right')) +
      commit('left', 4, ':2', 'right into left', lines('left', 'right'), 'merge :3\n') +
      commit('right', 5, ':3', 'left into right', lines('left', 'right'), 'merge :2\n') +
      commit('right', 6, ':5', 'more', lines('left', 'righter')),
    'left',
    'right',
  );
  const criss = {
    ...at,
    number: (await pulls.open(alice, at, { title: 'Criss-cross', head: 'right', base: 'left' })).issue.number,
  };
  t.match(await pulls.mergeStateOf(alice, criss), { mergeState: 'CLEAN' });
  const { oid } = await pulls.merge(alice, criss, style);
  t.equal(
    await clone.git('fetch', '--quiet', 'origin').then(() => clone.git('show', `${oid}:x.txt`)),
    lines('left', 'righter').trim(),
  );

  const count = process.env['HEARTH_CHAOS'] === undefined ? 10_000 : 100_000;
  const tree = Array.from({ length: count }, (_, n) => `M 100644 inline d${n % 100}/f${n}.txt\n${data(`${n}\n`)}`).join(
    '',
  );
  await imported(
    clone,
    `commit refs/heads/wide\nmark :1\n${who}\n${data('Wide')}from ${start}\n${tree}` +
      `commit refs/heads/wider\n${who}\n${data('Wider')}from :1\nM 100644 inline d1/f1.txt\n${data('changed\n')}` +
      `commit refs/heads/wide\n${who}\n${data('On it')}from :1\nM 100644 inline d2/f2.txt\n${data('changed\n')}`,
    'wide',
    'wider',
  );
  const wide = {
    ...at,
    number: (await pulls.open(alice, at, { title: 'Wide', head: 'wider', base: 'wide' })).issue.number,
  };
  const mergedAt = performance.now();
  const { cpuMs } = await measureCpuTime(() => pulls.merge(alice, wide, style));
  t.comment(`${count} files are merged in ${Math.round(performance.now() - mergedAt)} ms`);
  t.ok(cpuMs < 3 * mainThreadMs, `the server waits for git: ${cpuMs} ms`);
});

t.test('messages that are made to hurt: each becomes a bounded title and text', async (t) => {
  await races.repository('words');
  const bobs = await races.clone('words', 'bob');
  const messages: Record<string, string> = {
    'no words': '',
    'a long line': 'x'.repeat(10_000),
    'another direction': 'Fix \u202eexe.gpj\u202c now',
    'control characters': 'Fix\u0007 it\u0000 \u001b[31mred',
    'many mentions': `Hello\n\n${'@alice '.repeat(5_000)}`,
    'many references': `Hello\n\n${'#1 '.repeat(1_000)}`,
    'a long text': `Hello\n\n${'Long words. '.repeat(20_000)}`,
    'many emoji': `${'👩‍👩‍👧‍👦'.repeat(400)}\n\n:${'a:'.repeat(5_000)}`,
    'deep markup': `Hello\n\n${'['.repeat(10_000)}${'>'.repeat(2_000)}`,
  };
  const rendered: Pick<TaskRequest<never>, 'task' | 'limits'>[] = [];
  const { workers } = modules;
  const run = workers.run.bind(workers);
  workers.run = (request) => {
    rendered.push(request);
    return run(request);
  };
  let usualMs: number | null = null;
  let number = 0;
  for (const [what, message] of Object.entries(messages)) {
    const { writeFileSync } = await import('node:fs');
    writeFileSync(`${bobs.folder}/.git/message`, message.replaceAll('\u0000', ''));
    await bobs.git(
      'commit',
      '--quiet',
      '--allow-empty',
      '--allow-empty-message',
      '--cleanup=verbatim',
      '-F',
      '.git/message',
    );
    const taken = await measureCpuTime(async () => {
      const { code, stderr } = await bobs.push('origin', `HEAD:refs/for/main/t${(number += 1)}`);
      t.equal(code, 0, `${what}: ${stderr.slice(0, 200)}`);
      await races.announced();
    });
    usualMs ??= taken.cpuMs;
    t.ok(
      taken.cpuMs < usualMs + mainThreadMs,
      `${what} is taken with ${taken.cpuMs} ms; a push without words: ${usualMs}`,
    );
    const { issue } = await pulls.find(bob, { owner: 'alice', name: 'words', number });
    t.ok(
      [...issue.title].length <= 255 && issue.title !== '' && !/[\p{Cc}\u202e]/u.test(issue.title),
      `${what}: ${issue.title.slice(0, 40)}`,
    );
    const [opened] = (await issues.listEntries(bob, { owner: 'alice', name: 'words', number })).entries;
    t.ok(Buffer.byteLength(opened?.body ?? '') <= 65_536, what);
    const { result, cpuMs } = await measureCpuTime(() => ask('bob', `/repos/alice/words/pulls/${number}`));
    t.equal(result.status, 200, what);
    t.ok(cpuMs < mainThreadMs, `${what} is shown with ${cpuMs} ms`);
    const rendering = rendered.splice(0).filter(({ task }) => task === 'markdown');
    t.ok((opened?.body ?? '') === '' || rendering.length > 0, `${what} is rendered in the worker pool`);
    t.ok(rendering.every(({ limits }) => limits.deadlineMs <= 500 && limits.maxInputBytes <= 300 * 1024));
  }
  const refused: [string, unknown, RegExp][] = [
    ['a long title', { title: 'x'.repeat(10_000), head: 'topic' }, /title/i],
    ['no title', { title: ' ', head: 'topic' }, /title/i],
    ['another direction', { title: 'a \u202e b', head: 'topic' }, /title/i],
    ['a long text', { title: 'x', body: 'y'.repeat(65_537), head: 'topic' }, /text|body/i],
    ['no head', { title: 'x', head: '' }, /head|branch/i],
    ['an odd head', { title: 'x', head: '../..:x\u0000' }, /.*/],
  ];
  const clone = await races.clone('words', 'alice');
  await clone.git('checkout', '--quiet', '-b', 'topic');
  await clone.commit('t.txt', 't\n');
  await clone.push('--quiet', 'origin', 'topic');
  for (const [what, body, words] of refused) {
    const { status, text } = await call('alice', 'POST', '/repos/alice/words/pulls', body);
    t.equal(status, 422, `${what}: ${status}`);
    t.match(text, words, what);
  }
});
