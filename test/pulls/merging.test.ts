// Pull requests from branches: opening, rounds by push, merge states, the four styles, conflicts, races, merges by
// hand, reverts, and merging when ready.
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { retryMergeOnStatus } from '../../src/pulls/merging/retry-merge-on-status.ts';
import { roof, announced, at, commit, lines, openPulls, pushTip, tipOf, zeroId } from './pulls-fixture.ts';
import type { PullModules } from './pulls-fixture.ts';
import { reasonOf } from '../repositories/repositories-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const replaced = (name: string, line: number, by: string): string =>
  lines(name).replace(`${name} ${line}\n`, `${by}\n`);
const main = 'refs/heads/main';
const messageOf = (path: string, oid: string): string =>
  execFileSync('git', [`--git-dir=${path}`, 'show', '-s', '--format=%B', oid])
    .toString()
    .trim();

/** A branch of bob's with one commit on the base, and a pull request of it. */
async function openTopic(modules: PullModules, { branch = 'topic', line = 2, title = 'Change a line' } = {}) {
  const { bob, path, base, pulls } = modules;
  const head = commit(path, {
    parents: [base],
    files: { 'a.txt': replaced('a', line, 'changed') },
    message: `${title}\n\nBecause.\n`,
    author: 'bob',
  });
  await pushTip(modules, bob, 'alice/roof', branch, head);
  const { issue } = await pulls.open(bob, roof, { head: branch, title, body: 'Please look.' });
  return { head, number: issue.number };
}

t.test('a pull request of a branch', async (t) => {
  const modules = await openPulls(t);
  const { alice, bob, carol, pulls, issues, path, base } = modules;
  const { head, number } = await openTopic(modules);
  t.equal(number, 1);
  const { issue, pull } = await pulls.find(carol, at(1));
  t.match(issue, { kind: 'PULL', state: 'OPEN', title: 'Change a line', authorId: bob.id });
  t.match(pull, {
    source: 'BRANCH',
    headBranch: 'topic',
    baseBranch: 'main',
    lastRound: 1,
    headOid: head,
    baseOid: base,
  });
  t.equal(await tipOf(modules, path, 'refs/pull/1/head'), head);
  t.strictSame(
    (await pulls.rounds.commits(carol, at(1))).map(({ oid, subject }) => [oid, subject]),
    [[head, 'Change a line']],
  );
  t.match(await pulls.mergeStateOf(carol, at(1)), { mergeState: 'CLEAN', mergeStateOnto: base, conflicts: [] });
  t.equal(await reasonOf(pulls.open(bob, roof, { head: 'topic', title: 'Again' })), 'pull_exists');
  t.equal(await reasonOf(pulls.open(bob, roof, { head: 'main', title: 'Same' })), 'same_branch');
  t.equal(await reasonOf(pulls.open(bob, roof, { head: 'absent', title: 'None' })), 'head_missing');
  t.equal(await reasonOf(pulls.open(bob, roof, { head: 'topic', base: 'absent', title: 'None' })), 'base_missing');
  t.equal(await reasonOf(pulls.merge(carol, at(1), { style: 'merge', round: 1 })), 'not_allowed_on_issue');
  t.equal(await reasonOf(pulls.merge(bob, at(1), { style: 'merge', round: 2 })), 'round_changed');
  t.equal(await reasonOf(pulls.merge(bob, at(1), { style: 'octopus', round: 1 })), 'invalid_merge_style');
  t.equal(await tipOf(modules, path, main), base, 'nothing of it moved the branch');

  const { oid } = await pulls.merge(alice, at(1), { style: 'merge', round: 1 });
  t.equal(await tipOf(modules, path, main), oid);
  t.equal(messageOf(path, oid), 'Merge pull request #1 from topic\n\nChange a line');
  t.match(await pulls.find(carol, at(1)), {
    issue: { state: 'MERGED' },
    pull: { mergedOid: oid, mergedOntoOid: base },
  });
  await announced(modules);
  const kinds = (await issues.listEntries(carol, at(1))).entries.map(({ kind }) => kind);
  t.strictSame(kinds, ['opened', 'merged'], 'recorded once');
  t.equal(await reasonOf(pulls.merge(alice, at(1), { style: 'merge', round: 1 })), 'merge_blocked');
});

t.test('a merge is two writes until its answer, and nothing waits for its announcement', async (t) => {
  const modules = await openPulls(t);
  const { alice, pulls, issues, db } = modules;
  const bug = await issues.open(alice, roof, { title: 'Leak' });
  for (const [style, line] of [
    ['merge', 2],
    ['squash', 8],
  ] as const) {
    const title = style === 'merge' ? `Mend it, fixes #${bug.number}` : 'Again';
    const { number } = await openTopic(modules, { branch: style, line, title });
    await announced(modules);
    await pulls.mergeStateOf(alice, at(number));
    let isOver = false;
    let writes = 0;
    const original = db.write.bind(db);
    const write = (...args: Parameters<typeof db.write>): ReturnType<typeof db.write> => {
      if (!isOver) writes += 1;
      return original(...args);
    };
    Object.assign(db, { write });
    await pulls.merge(alice, at(number), { style, round: 1 });
    isOver = true;
    Object.assign(db, { write: original });
    t.equal(writes, 2, style);
    t.equal((await pulls.find(alice, at(number))).issue.state, 'MERGED', 'with the entry, when it is answered');
    await announced(modules);
    const kinds = (await issues.listEntries(alice, at(number))).entries.map(({ kind }) => kind);
    t.equal(kinds.filter((kind) => kind === 'merged').length, 1);
  }
  t.equal((await issues.find(alice, at(bug.number))).state, 'CLOSED');
});

t.test('styles of merging', async (t) => {
  const modules = await openPulls(t);
  const { alice, bob, pulls, path, base } = modules;
  const { number: squashed } = await openTopic(modules, { branch: 'one', line: 2, title: 'One' });
  const { oid: first } = await pulls.merge(alice, at(squashed), { style: 'squash', round: 1 });
  const parentsOf = (oid: string): string =>
    execFileSync('git', [`--git-dir=${path}`, 'show', '-s', '--format=%P', oid])
      .toString()
      .trim();
  t.equal(parentsOf(first), base);
  t.match(messageOf(path, first), /^One \(#1\)\n\nBecause\.\n\nCo-authored-by: bob <bob@example.org>$/);

  const { number: rebased } = await openTopic(modules, { branch: 'two', line: 8, title: 'Two' });
  const { oid: second } = await pulls.merge(alice, at(rebased), { style: 'rebase', round: 1 });
  t.equal(parentsOf(second), first, 'picked onto the tip');
  t.equal(messageOf(path, second), 'Two\n\nBecause.');

  const head = commit(path, { parents: [second], files: { 'c.txt': 'new\n' }, message: 'Three', author: 'bob' });
  await pushTip(modules, bob, 'alice/roof', 'three', head);
  const { issue } = await pulls.open(bob, roof, { head: 'three', title: 'Three' });
  const { oid: third } = await pulls.merge(alice, at(issue.number), { style: 'forward', round: 1 });
  t.equal(third, head, 'the very commit');
  t.equal(await tipOf(modules, path, main), head);
});

t.test('rounds by push: added, rebased, edited', async (t) => {
  const modules = await openPulls(t);
  const { bob, pulls, issues, path, base } = modules;
  const { head, number } = await openTopic(modules);
  const second = commit(path, { parents: [head], files: { 'c.txt': 'c\n' }, message: 'More', author: 'bob' });
  await pushTip(modules, bob, 'alice/roof', 'topic', second);
  const onMain = commit(path, { parents: [base], files: { 'b.txt': replaced('b', 5, 'main') }, message: 'On main' });
  await pushTip(modules, bob, 'alice/roof', 'main', onMain);
  const files = { 'a.txt': replaced('a', 2, 'changed') };
  const again = commit(path, { parents: [onMain], files, message: 'Change a line\n\nBecause.\n', author: 'bob' });
  const rebased = commit(path, { parents: [again], files: { 'c.txt': 'c\n' }, message: 'More', author: 'bob' });
  await pushTip(modules, bob, 'alice/roof', 'topic', rebased);
  const edited = commit(path, { parents: [again], files: { 'c.txt': 'd\n' }, message: 'More', author: 'bob' });
  await pushTip(modules, bob, 'alice/roof', 'topic', edited);
  const reworded = commit(path, { parents: [again], files: { 'c.txt': 'd\n' }, message: 'Still more', author: 'bob' });
  await pushTip(modules, bob, 'alice/roof', 'topic', reworded);
  const rounds = await pulls.rounds.list(bob, at(number));
  t.strictSame(
    rounds.map(({ round, change, commitCount }) => [round, change, commitCount]),
    [
      [1, 'first', 1],
      [2, 'added', 2],
      [3, 'rebased', 2],
      [4, 'edited', 2],
      [5, 'edited', 2],
    ],
    'other words are no rebase, either',
  );
  t.equal(await tipOf(modules, path, 'refs/pull/1/head'), reworded);
  const entries = (await issues.listEntries(bob, at(number))).entries.filter(({ kind }) => kind === 'round');
  t.strictSame(
    entries.map(({ details }) => details['change']),
    ['added', 'rebased', 'edited', 'edited'],
  );
  await pushTip(modules, bob, 'alice/roof', 'topic', zeroId);
  t.equal((await pulls.find(bob, at(number))).pull.headOid, reworded, 'a deleted branch leaves the last round');
  await pulls.restoreBranch(bob, at(number));
  t.equal(await tipOf(modules, path, 'refs/heads/topic'), reworded);
});

t.test('conflicts are named, and block', async (t) => {
  const modules = await openPulls(t);
  const { alice, bob, pulls, path, base } = modules;
  const { number } = await openTopic(modules);
  const onMain = commit(path, { parents: [base], files: { 'a.txt': replaced('a', 2, 'other') }, message: 'On main' });
  await pushTip(modules, bob, 'alice/roof', 'main', onMain);
  t.match(await pulls.mergeStateOf(bob, at(number)), { mergeState: 'CONFLICT', conflicts: ['a.txt'] });
  t.equal(await reasonOf(pulls.merge(alice, at(number), { style: 'merge', round: 1 })), 'merge_blocked');
  const updating = pulls.updateBranch(bob, at(number), { style: 'MERGE', round: 1 });
  t.equal(await reasonOf(updating), 'merge_conflict');
  t.equal(await tipOf(modules, path, main), onMain);
});

t.test('two merges at once: both land, or one says why', async (t) => {
  const modules = await openPulls(t);
  const { alice, bob, pulls, path } = modules;
  const one = await openTopic(modules, { branch: 'one', line: 2, title: 'One' });
  const two = await openTopic(modules, { branch: 'two', line: 8, title: 'Two' });
  const merged = await Promise.allSettled([
    pulls.merge(alice, at(one.number), { style: 'merge', round: 1 }),
    pulls.merge(bob, at(two.number), { style: 'squash', round: 1 }),
  ]);
  t.strictSame(
    merged.map(({ status }) => status),
    ['fulfilled', 'fulfilled'],
    'the loser is computed anew on the new tip',
  );
  const content = execFileSync('git', [`--git-dir=${path}`, 'show', 'main:a.txt']).toString();
  t.equal(content, replaced('a', 2, 'changed').replace('a 8\n', 'changed\n'));
  const twice = await Promise.allSettled(
    [1, 2].map(() => pulls.merge(alice, at(one.number), { style: 'merge', round: 1 })),
  );
  t.strictSame(
    twice.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
});

t.test('a push to the base that has the head merges by hand; similar changes do not', async (t) => {
  const modules = await openPulls(t);
  const { alice, pulls, path, base } = modules;
  const { head, number } = await openTopic(modules);
  const twin = commit(path, {
    parents: [base],
    files: { 'a.txt': replaced('a', 2, 'changed') },
    message: 'Same change',
  });
  await pushTip(modules, alice, 'alice/roof', 'main', twin);
  t.equal((await pulls.find(alice, at(number))).issue.state, 'OPEN');
  const merge = commit(path, { parents: [twin, head], message: 'Merge by hand' });
  await pushTip(modules, alice, 'alice/roof', 'main', merge);
  t.match(await pulls.find(alice, at(number)), {
    issue: { state: 'MERGED' },
    pull: { mergedOid: merge, mergedBy: alice.id },
  });
});

t.test('closing issues, updating, retargeting, reverting', async (t) => {
  const modules = await openPulls(t);
  const { alice, bob, pulls, issues, path, base } = modules;
  const bug = await issues.open(alice, roof, { title: 'Leak' });
  const { number } = await openTopic(modules, { title: `Fix it, fixes #${bug.number}` });
  const onMain = commit(path, { parents: [base], files: { 'b.txt': replaced('b', 5, 'main') }, message: 'On main' });
  await pushTip(modules, bob, 'alice/roof', 'main', onMain);
  const { oid: updated } = await pulls.updateBranch(bob, at(number), { style: 'REBASE', round: 1 });
  await announced(modules);
  t.match(await pulls.find(bob, at(number)), { pull: { lastRound: 2, headOid: updated, baseOid: onMain } });
  t.match((await pulls.rounds.list(bob, at(number)))[1], { change: 'rebased' });
  await pushTip(modules, alice, 'alice/roof', 'other', base);
  await pulls.edit(bob, at(number), { base: 'other' });
  t.match(await pulls.find(bob, at(number)), { pull: { baseBranch: 'other', lastRound: 3, baseOid: base } });
  await pulls.edit(bob, at(number), { base: 'main', isDraft: true });
  t.equal(await reasonOf(pulls.merge(alice, at(number), { style: 'merge', round: 4 })), 'merge_blocked', 'a draft');
  await pulls.edit(bob, at(number), { isDraft: false });
  const { oid } = await pulls.merge(alice, at(number), { style: 'merge', round: 4 });
  t.equal((await issues.find(alice, at(bug.number))).state, 'CLOSED');
  await pulls.deleteBranch(bob, at(number));
  t.equal(await tipOf(modules, path, 'refs/heads/topic'), null);
  const { issue: reverting } = await pulls.revert(alice, at(number));
  const { oid: reverted } = await pulls.merge(alice, at(reverting.number), { style: 'squash', round: 1 });
  const diff = execFileSync('git', [`--git-dir=${path}`, 'diff', '--stat', onMain, reverted]).toString();
  t.equal(diff, '', 'the tree is that of before');
  t.not(reverted, oid);
});

t.test('merge when ready waits for the rule, and ends with a new round', async (t) => {
  const modules = await openPulls(t);
  const { alice, bob, pulls, path, repositories, db } = modules;
  await repositories.rules.add(alice, roof.owner, roof.name, { pattern: 'main', target: 'BRANCH' });
  await db.write(({ manager }) => manager.query(`UPDATE branch_rules SET checks = '["build"]' WHERE pattern = 'main'`));
  const { head, number } = await openTopic(modules);
  t.equal(await reasonOf(pulls.merge(bob, at(number), { style: 'merge', round: 1 })), 'merge_blocked');
  await pulls.mergeWhenReady(bob, at(number), { style: 'merge', round: 1 });
  const again = commit(path, { parents: [head], files: { 'd.txt': 'd\n' }, message: 'More', author: 'bob' });
  await pushTip(modules, bob, 'alice/roof', 'topic', again);
  t.equal((await pulls.find(bob, at(number))).pull.mergeWhenReady, null, 'a new round ends the wish');
  await pulls.mergeWhenReady(bob, at(number), { style: 'merge', round: 2 });
  await repositories.statuses.report(bob, roof.owner, roof.name, { sha: again, context: 'build', state: 'success' });
  await pulls.mergeAllReady();
  await waitUntil(async () => (await pulls.find(bob, at(number))).issue.state === 'MERGED');
  t.match(await pulls.find(bob, at(number)), { issue: { state: 'MERGED' }, pull: { mergedBy: bob.id } });
});

t.test('an administrator passes a rule that lets them, which the log says', async (t) => {
  const modules = await openPulls(t);
  const { alice, bob, pulls, issues, repositories, log } = modules;
  await repositories.rules.add(alice, roof.owner, roof.name, {
    pattern: 'main',
    target: 'BRANCH',
    merging: { approvals: 1, adminsToo: false },
  });
  const { number } = await openTopic(modules);
  const input = { style: 'merge', round: 1, bypasses: true };
  t.equal(await reasonOf(pulls.merge(bob, at(number), input)), 'merge_blocked', 'who may only write cannot');
  t.equal(await reasonOf(pulls.merge(alice, at(number), { ...input, bypasses: false })), 'merge_blocked');
  await pulls.merge(alice, at(number), input);
  const [merged] = (await issues.listEntries(alice, at(number))).entries.filter(({ kind }) => kind === 'merged');
  t.strictSame(merged?.details['bypassed'], ['1 approval needed, 0 given.']);
  t.match(
    log.find(({ event }) => event === 'pull.rule_bypassed'),
    { pull: number, blocks: ['approvals'], by: alice.id },
  );
});

t.test('messages of merges begin with the templates of the base branch', async (t) => {
  const modules = await openPulls(t);
  const { alice, pulls, path, base } = modules;
  const template = [
    '${PullRequestTitle} (${PullRequestReference}, by ${PullRequestPosterName})',
    '',
    '${PullRequestDescription}',
    '',
    'Into ${BaseRepoOwnerName}/${BaseRepoName} ${BaseBranch} from ${HeadBranch}, no. ${PullRequestIndex}',
    '${ReviewedOn}',
    '${Unknown} $PullRequestTitle',
  ].join('\r\n');
  const tip = commit(path, {
    parents: [base],
    files: {
      '.gitea/default_merge_message/MERGE_TEMPLATE.md': 'Of another folder',
      '.hearth/default_merge_message/MERGE_TEMPLATE.md': template,
    },
    message: 'Templates',
  });
  await pushTip(modules, alice, 'alice/roof', 'main', tip);
  const { number } = await openTopic(modules, { title: 'Read ${BaseBranch}' });
  const box = await pulls.mergeBox(alice, at(number));
  t.match(box.messages, {
    MERGE: { title: 'Read ${BaseBranch} (#1, by bob)' },
    SQUASH: { title: 'Read ${BaseBranch} (#1)', body: 'Because.' },
  });
  const { oid } = await pulls.merge(alice, at(number), { style: 'merge', round: 1 });
  t.equal(
    messageOf(path, oid),
    [
      'Read ${BaseBranch} (#1, by bob)',
      '',
      'Please look.',
      '',
      'Into alice/roof main from topic, no. 1',
      'Reviewed-on: /repos/alice/roof/pulls/1',
      '${Unknown} $PullRequestTitle',
    ].join('\n'),
    'also of a merge without a form; a value is no template',
  );
});

t.test('a status of a write that takes long is followed once that has ended', async (t) => {
  const modules = await openPulls(t);
  const { alice, pulls, db, repositories } = modules;
  const { head, number } = await openTopic(modules);
  const { issue } = await pulls.find(alice, at(number));
  await db.write(({ manager }) =>
    manager.query('UPDATE pulls SET merge_when_ready_by = ? WHERE issue_id = ?', [alice.id, issue.id]),
  );
  const { repository } = await repositories.find(alice, roof.owner, roof.name);
  const added: string[] = [];
  const warnings: string[] = [];
  const follow = retryMergeOnStatus({
    db,
    mergeStates: { add: (ids: readonly string[]) => void added.push(...ids) },
    logger: { warn: (event: string) => void warnings.push(event) },
  } as never);
  const status = { repositoryId: repository.id, sha: head, state: 'success' } as never;
  let hasEnded = false;
  await db.write(async () => {
    follow(status);
    await sleep(700);
    hasEnded = true;
    t.same(added, [], 'not before it is durable');
  });
  await waitUntil(() => added.length !== 0);
  t.ok(hasEnded);
  t.same(added, [issue.id]);
  t.same(warnings, []);
});
