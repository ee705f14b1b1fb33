// time limit: 300 s
// Two things at once (collaboration §13): merges, pushes, rounds, rules, rights and edits between the reading and the
// writing of each other.
import t from 'tap';
import { personViewer } from '../../src/access/index.ts';
import { reasonOf } from '../repositories/repositories-fixture.ts';
import { numbered, startRaceFixture } from './races-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(240_000);
const races = await startRaceFixture(t);
const { modules, alice, bob, between, open, pushTo, tipOf, stateOf } = races;
const { pulls, issues, repositories, accounts, git } = modules;
const first = numbered(10);
const style = { style: 'merge', round: 1 };
const isForward = async (name: string, from: string, to: string): Promise<boolean> =>
  git.refs.isForward(await races.pathOf(name), from, to);

/** A repository of alice with a file of ten lines. */
async function repository(name: string) {
  const clone = await races.repository(name);
  await clone.commit('a.txt', first);
  await clone.push('--quiet', 'origin', 'main');
  return clone;
}

t.test('two merges at once that conflict: one lands, the other says where', async (t) => {
  const clone = await repository('conflict');
  const one = await open(clone, 'conflict', { 'a.txt': numbered(10, { 5: 'one' }) }, { branch: 'one' });
  const two = await open(clone, 'conflict', { 'a.txt': numbered(10, { 5: 'two' }) }, { branch: 'two' });
  const results = await Promise.allSettled([pulls.merge(alice, one.at, style), pulls.merge(alice, two.at, style)]);
  t.same(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const [refused] = results.flatMap((each) => (each.status === 'rejected' ? [each.reason as { message: string }] : []));
  t.match(refused?.message, /conflict/i);
  const states = [(await stateOf(one.at)).state, (await stateOf(two.at)).state];
  t.same(states.sort(), ['MERGED', 'OPEN']);
});

t.test('a push to the base while a merge is computed: it is computed anew, and no commit is lost', async (t) => {
  const clone = await repository('moving');
  const { at, head } = await open(clone, 'moving', { 'b.txt': 'b\n' });
  let pushed = '';
  between('merge', async () => (pushed = await pushTo(clone, 'main', 'c.txt', 'c\n')));
  const { oid } = await pulls.merge(alice, at, style);
  t.equal(await tipOf('moving'), oid);
  t.ok((await isForward('moving', pushed, oid)) && (await isForward('moving', head, oid)), 'both are in it');
  t.match(await stateOf(at), { state: 'MERGED' });

  const next = await open(clone, 'moving', { 'd.txt': 'd\n' }, { branch: 'next' });
  let last = '';
  let count = 0;
  between('merge', async () => (last = await pushTo(clone, 'main', `e${count++}.txt`, 'e\n')), 3);
  t.equal(await reasonOf(pulls.merge(alice, next.at, style)), 'branch_moves_too_fast');
  t.equal(await tipOf('moving'), last, 'the pushes are what is there');
  t.match(await stateOf(next.at), { state: 'OPEN', rounds: 1 });
});

t.test('a round while a merge is computed is looked at first', async (t) => {
  const clone = await repository('rounds');
  const { at } = await open(clone, 'rounds', { 'b.txt': 'b\n' });
  between('merge', async () => {
    await pushTo(clone, 'topic', 'b.txt', 'better\n');
    await races.announced();
  });
  t.equal(await reasonOf(pulls.merge(alice, at, style)), 'round_changed');
  t.match(await stateOf(at), { state: 'OPEN', rounds: 2 });
  await pulls.merge(alice, at, { ...style, round: 2 });

  // A push to refs/for that was taken counts, also before its round is written.
  const bobs = await races.clone('rounds', 'bob');
  await bobs.commit('f.txt', 'f\n');
  t.equal((await bobs.push('origin', 'HEAD:refs/for/main')).code, 0);
  await races.announced();
  const contribution = { ...at, number: 2 };
  await bobs.commit('f.txt', 'more\n');
  const gate = races.hold();
  t.equal((await bobs.push('-o', 'pull=2', 'origin', 'HEAD:refs/for/main')).code, 0);
  await gate.isReached;
  t.equal(await reasonOf(pulls.merge(alice, contribution, style)), 'push_not_recorded');
  gate.release();
  t.match(await stateOf(contribution), { state: 'OPEN', rounds: 2 });
  await pulls.merge(alice, contribution, { ...style, round: 2 });
  t.match(await stateOf(contribution), { state: 'MERGED' });
});

t.test('what is judged before a merge is judged again in its write', async (t) => {
  const clone = await repository('judged');
  const { id } = (await accounts.addPerson({ username: 'writer' })) as { id: string };
  const writer = personViewer(id, 'admin');
  await repositories.collaborators.add(alice, 'alice', 'judged', { username: 'writer', role: 'write' });
  const cases: [
    what: string,
    act: (at: { owner: string; name: string; number: number }) => Promise<unknown>,
    RegExp,
  ][] = [
    ['closed', (at) => issues.close(alice, at, 'not_planned'), /not open/i],
    ['a draft', (at) => pulls.edit(alice, at, { isDraft: true }), /draft/i],
    ['another base', (at) => pulls.edit(alice, at, { base: 'other' }), /round|base/i],
    [
      'a verdict against it',
      (at) => pulls.reviews.submit(writer, at, { verdict: 'REQUEST_CHANGES', body: 'No', round: 1 }),
      /changes/i,
    ],
    [
      'a rule',
      () =>
        repositories.rules.add(alice, 'alice', 'judged', {
          pattern: 'main',
          target: 'BRANCH',
          merging: { approvals: 1 },
        }),
      /approval/i,
    ],
    [
      'without the right',
      () => repositories.collaborators.remove(alice, 'alice', 'judged', 'writer'),
      /may not|not found|permission/i,
    ],
    ['archived', () => repositories.setArchived(alice, 'alice', 'judged', true), /archived/i],
  ];
  await clone.git('branch', 'other', 'origin/main');
  await clone.push('--quiet', 'origin', 'other');
  for (const [at, [what, act, words]] of cases.entries()) {
    const pull = await open(clone, 'judged', { [`${at}.txt`]: 'x\n' }, { branch: `topic-${at}` });
    const before = await tipOf('judged');
    between('merge', () => act(pull.at));
    const merging = pulls.merge(at === 5 ? writer : alice, pull.at, style);
    const error = await merging.then(() => null).catch((refused: Error) => refused);
    t.match(error?.message ?? 'merged', words, what);
    t.equal(await tipOf('judged'), before, `${what}: the branch stays`);
    if (what === 'a rule')
      for (const rule of await repositories.rules.list(alice, 'alice', 'judged'))
        if (rule.pattern === 'main') await repositories.rules.remove(alice, 'alice', 'judged', rule.id);
  }
});

t.test('a repository that takes no pushes takes no merges', async (t) => {
  const clone = await repository('guarded');
  const { at } = await open(clone, 'guarded', { 'b.txt': 'b\n' });
  let isMirror = true;
  repositories.pushes.refuse(async (_tx, { name }) => (isMirror && name === 'guarded' ? 'this is a mirror' : null));
  t.equal(await reasonOf(pulls.merge(alice, at, style)), 'push_refused');
  isMirror = false;
  await pulls.merge(alice, at, style);
});

t.test('the head moves while the pull request is opened, or is closed: the next round has it', async (t) => {
  const clone = await repository('behind');
  const { at } = await open(clone, 'behind', { 'b.txt': 'b\n' });
  await issues.close(alice, at, 'not_planned');
  const tip = await pushTo(clone, 'topic', 'b.txt', 'while closed\n');
  t.match(await stateOf(at), { state: 'CLOSED', rounds: 1 });
  await issues.reopen(alice, at);
  await waitUntil(async () => (await stateOf(at)).headOid === tip, 'the round of what was pushed meanwhile');
  t.match(
    await pulls.rounds.list(alice, at),
    [{ round: 1 }, { round: 2, submitterId: alice.id }],
    'with who pushed it',
  );

  await clone.git('checkout', '--quiet', '-B', 'opening', 'origin/main');
  await clone.commit('c.txt', 'c\n');
  await clone.push('--quiet', 'origin', 'opening');
  const { commitsBetween } = git.queries;
  let late = '';
  git.queries.commitsBetween = async (...args) => {
    git.queries.commitsBetween = commitsBetween;
    const read = await commitsBetween(...args);
    late = await pushTo(clone, 'opening', 'c.txt', 'while opening\n');
    await races.announced();
    return read;
  };
  const { issue } = await pulls.open(alice, { owner: 'alice', name: 'behind' }, { title: 'Late', head: 'opening' });
  const opened = { ...at, number: issue.number };
  await waitUntil(
    async () => (await stateOf(opened)).headOid === late,
    'the round of what was pushed while it was opened',
  );
  t.match(await stateOf(opened), { rounds: 2 });
});

t.test('an update, a suggestion and a revert while the branch moves', async (t) => {
  const clone = await repository('updates');
  const { at } = await open(clone, 'updates', { 'b.txt': 'b\n' });
  await pushTo(clone, 'main', 'c.txt', 'c\n');
  let pushed = '';
  between('merge', async () => (pushed = await pushTo(clone, 'topic', 'b.txt', 'better\n')));
  t.equal(await reasonOf(pulls.updateBranch(alice, at, { style: 'MERGE', round: 1 })), 'round_changed');
  t.equal(await tipOf('updates', 'topic'), pushed, 'the push is what is there');
  t.match(await stateOf(at), { rounds: 2 });

  const { threadId, position } = await pulls.reviews.addComment(alice, at, {
    ...{ round: 2, path: 'b.txt', side: 'NEW', firstLine: 1, lastLine: 1, sendNow: true },
    body: '```suggestion\nbest\n```',
  });
  between('commitFiles', async () => (pushed = await pushTo(clone, 'topic', 'd.txt', 'd\n')));
  const applying = pulls.suggestions.apply(alice, at, { comments: [{ threadId, position }], round: 2 });
  t.equal(await reasonOf(applying), 'round_changed');
  t.equal(await tipOf('updates', 'topic'), pushed);
  await races.announced();

  await pulls.merge(alice, at, { ...style, round: 3 });
  const reverts = await Promise.allSettled([pulls.revert(alice, at), pulls.revert(alice, at)]);
  t.ok(
    reverts.some(({ status }) => status === 'fulfilled'),
    'one is there',
  );
  const open_ = await races.db.read.query(
    "SELECT count(*) AS n FROM pulls WHERE head_branch LIKE 'revert-1%' AND is_open = 1",
  );
  t.equal(Number(open_[0].n), reverts.filter(({ status }) => status === 'fulfilled').length);
});

t.test('merge when ready ends with the rights and the account of who asked', async (t) => {
  const clone = await repository('wishes');
  await repositories.rules.add(alice, 'alice', 'wishes', {
    pattern: 'main',
    target: 'BRANCH',
    merging: { checks: ['build'] },
  });
  const gone: [what: string, username: string, act: (id: string) => Promise<unknown>][] = [
    ['removed from the repository', 'dora', () => repositories.collaborators.remove(alice, 'alice', 'wishes', 'dora')],
    ['disabled', 'erin', (id) => accounts.setDisabled(id, true)],
    ['deleted', 'frank', (id) => accounts.deletePerson(id)],
  ];
  for (const [what, username, act] of gone) {
    const { id } = await accounts.addPerson({ username });
    await repositories.collaborators.add(alice, 'alice', 'wishes', { username, role: 'write' });
    const { at, head } = await open(clone, 'wishes', { [`${username}.txt`]: 'x\n' }, { branch: username });
    await pulls.mergeWhenReady(personViewer(id, 'admin'), at, style);
    await act(id);
    const before = await tipOf('wishes');
    await repositories.statuses.report(alice, 'alice', 'wishes', { sha: head, context: 'build', state: 'success' });
    pulls.reconsider([(await pulls.find(alice, at)).issue.id]);
    await waitUntil(async () => !(await stateOf(at)).wish, `${what}: the wish ends`);
    t.match(await stateOf(at), { state: 'OPEN' }, what);
    t.equal(await tipOf('wishes'), before, what);
    const entries = (await issues.listEntries(alice, at)).entries.filter(({ kind }) => kind === 'merge_when_ready');
    t.match(entries.at(-1)?.details, { cancelled: true, reason: /.+/ }, 'with the reason');
  }
});

t.test('a push to refs/for that was taken becomes a pull request, whatever comes before it is written', async (t) => {
  const meanwhile: [what: string, act: (name: string) => Promise<unknown>][] = [
    ['private', (name) => repositories.changeVisibility(alice, 'alice', name, 'PRIVATE')],
    ['archived', (name) => repositories.setArchived(alice, 'alice', name, true)],
    ['members-only', (name) => issues.changeSettings(alice, { owner: 'alice', name }, { pullsFrom: 'nobody' })],
    ['blocked', () => issues.block(alice, { owner: 'alice', username: 'bob' })],
    ['renamed', (name) => repositories.rename(alice, 'alice', name, `${name}-2`)],
    ['without-base', (name) => races.clone(name, 'alice').then((clone) => clone.push('origin', ':refs/heads/base'))],
  ];
  for (const [name, act] of meanwhile) {
    const clone = await repository(`taken-${name}`);
    await clone.git('branch', 'base');
    await clone.push('--quiet', 'origin', 'base');
    const bobs = await races.clone(`taken-${name}`, 'bob');
    const head = await bobs.commit('b.txt', 'b\n', `Contribution, ${name}`);
    const gate = races.hold();
    const push = await bobs.push('origin', 'HEAD:refs/for/base');
    t.equal(push.code, 0, push.stderr);
    await gate.isReached;
    const change = act(`taken-${name}`);
    gate.release();
    await change;
    const at = { owner: 'alice', name: name === 'renamed' ? 'taken-renamed-2' : `taken-${name}`, number: 1 };
    await races.announced();
    const { issue, pull } = await pulls.find(alice, at);
    t.match(
      { issue, pull },
      { issue: { state: 'OPEN', authorId: bob.id }, pull: { headOid: head, lastRound: 1 } },
      name,
    );
    if (name === 'private')
      t.equal(await reasonOf(pulls.find(bob, at)), 'repository_not_found', 'which bob sees no more');
    if (name === 'blocked') await issues.unblock(alice, { owner: 'alice', username: 'bob' });
  }
  const trashed = await repository('taken-trash');
  await trashed.git('status');
  const theirs = await races.clone('taken-trash', 'bob');
  const late = await theirs.commit('b.txt', 'b\n');
  const held = races.hold();
  t.equal((await theirs.push('origin', 'HEAD:refs/for/main')).code, 0);
  await held.isReached;
  const { id: repositoryId } = await repositories.trash.move(alice, 'alice', 'taken-trash');
  held.release();
  await repositories.pushes.finish();
  await repositories.trash.restore(alice, repositoryId);
  await repositories.pushes.finish();
  await races.announced();
  t.match(await pulls.find(bob, { owner: 'alice', name: 'taken-trash', number: 1 }), { pull: { headOid: late } });

  const clone = await repository('taken-gone');
  await clone.git('status');
  const { id } = await accounts.addPerson({ username: 'grace' });
  const { secret } = await accounts.addToken(id, { name: 'x', access: 'write', repositoryIds: null, expiresAt: null });
  await clone.git('checkout', '--quiet', '-b', 'theirs');
  await clone.commit('b.txt', 'b\n');
  const gate = races.hold();
  t.equal((await clone.push(races.url('taken-gone').replace('://', `://x:${secret}@`), 'HEAD:refs/for/main')).code, 0);
  await gate.isReached;
  await accounts.deletePerson(id);
  gate.release();
  await races.announced();
  t.same(await races.pullRefs('taken-gone'), {}, 'of an account that is gone by then, nothing is left');
});
