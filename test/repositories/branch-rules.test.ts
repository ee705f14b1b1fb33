// Branch and tag rules: edited by administrators of a repository, asked by each way to move a ref.
import { execFileSync } from 'node:child_process';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import type { RuleAct, Viewer } from '../../src/access/index.ts';
import type { GrantInput, NewRule } from '../../src/repositories/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { packOf } from '../git/push-fixture.ts';
import { openModules, push, pushTo, reasonOf, sampleHistory, viewerOf, zeroId } from './repositories-fixture.ts';

const main = 'refs/heads/main';
const release = 'refs/heads/release/1';
const tag = 'refs/tags/v1';

/** alice/work without rules, with main and release/1 at the third commit; bob writes, carol administers. */
async function openWork(t: Owner) {
  const modules = await openModules(t);
  const { repositories, alice, folder } = modules;
  const history = sampleHistory(folder);
  const { commits, work } = history;
  await repositories.create(alice, { name: 'work', visibility: 'PUBLIC' });
  await repositories.edit(alice, 'alice', 'work', { defaultBranchProtected: false });
  for (const [username, role] of Object.entries({ bob: 'write', carol: 'admin' }))
    await repositories.collaborators.add(alice, 'alice', 'work', { username, role });
  const { path, repository } = await repositories.find(alice, 'alice', 'work');
  await push(modules, alice, 'alice/work', [`${zeroId} ${commits[2]} ${main}`, `${zeroId} ${commits[2]} ${release}`], {
    pack: history.pack,
  });
  const git = (input: string, ...args: string[]) =>
    execFileSync('git', [`--git-dir=${work}`, ...args], {
      env: clientEnvironment,
      input,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
      .toString()
      .trim();
  return {
    ...modules,
    history,
    path,
    repository,
    commit: (message: string, ...parents: string[]) =>
      git(message, 'commit-tree', `${commits[0]}^{tree}`, ...parents.flatMap((parent) => ['-p', parent])),
    add: (input: NewRule, viewer: Viewer = alice) => repositories.rules.add(viewer, 'alice', 'work', input),
    tip: async (ref: string) => (await modules.git.refs.list(path)).get(ref),
  };
}

type Work = Awaited<ReturnType<typeof openWork>>;

/** Pushes commands with everything that the history has; returns the lines of the report without their refs. */
async function pushed(modules: Work, viewer: Viewer, ...commands: string[]): Promise<string[]> {
  const { work } = modules.history;
  const news = commands.map((line) => line.split(' ')[1]!).filter((id) => id !== zeroId);
  const pack = news.length === 0 ? Buffer.alloc(0) : packOf(work, ...news);
  const { report } = await push(modules, viewer, 'alice/work', commands, { pack });
  return report.map((line) => line.replace(/^(ok|ng) \S+ ?/, (_, word) => (word === 'ok' ? 'ok' : '')));
}

const branchRule = (pattern: string, grants: Partial<Record<RuleAct, GrantInput>> = {}): NewRule => ({
  target: 'branch',
  pattern,
  grants,
});

t.test('each act is asked of the viewer who pushes, with the reason per ref; other refs go', async (t) => {
  const work = await openWork(t);
  const { alice, bob, carol, history, tip } = work;
  const [one, two, three, four] = history.commits as [string, string, string, string];
  const other = 'refs/heads/other';
  await work.add(
    branchRule('release/*', {
      push: { level: 'admin' },
      force: { level: 'owner' },
      create: { level: 'nobody', people: ['bob'] },
      delete: { level: 'nobody' },
    }),
  );
  t.same(await pushed(work, bob, `${three} ${four} ${release}`, `${zeroId} ${one} ${other}`), [
    'branch rule "release/*": you may not push to it; push another branch and open a pull request',
    'ok',
  ]);
  t.same(await pushed(work, carol, `${three} ${four} ${release}`), ['ok']);
  t.same(await pushed(work, carol, `${four} ${two} ${release}`), [
    'branch rule "release/*": you may not force push to it; fetch, then merge or rebase',
  ]);
  t.same(await pushed(work, alice, `${four} ${history.aside} ${release}`), ['ok']);
  for (const [viewer, expected] of [
    [bob, 'ok'],
    [carol, 'branch rule "release/*": you may not create it'],
    [alice, 'branch rule "release/*": you may not create it'],
  ] as const)
    t.same(await pushed(work, viewer, `${zeroId} ${two} refs/heads/release/${viewer.username}`), [expected]);
  t.same(await pushed(work, alice, `${two} ${zeroId} refs/heads/release/bob`, `${one} ${zeroId} ${other}`), [
    'branch rule "release/*": deleting is not allowed',
    'ok',
  ]);
  t.equal(await tip(release), history.aside);
  t.equal(await tip('refs/heads/release/bob'), two);
  const atomic = await push(
    work,
    bob,
    'alice/work',
    [`${zeroId} ${one} ${other}`, `${history.aside} ${one} ${release}`],
    {
      capabilities: 'report-status side-band-64k atomic',
    },
  );
  t.same(atomic.report.length, 2);
  t.equal(await tip(other), undefined, 'all or nothing');
});

t.test('tags: created, moved and deleted by their rules', async (t) => {
  const work = await openWork(t);
  const { alice, bob, carol, history } = work;
  const [one, two] = history.commits as [string, string];
  await work.add({ target: 'tag', pattern: 'v*', grants: { create: { level: 'admin' }, delete: { level: 'owner' } } });
  t.same(await pushed(work, bob, `${zeroId} ${one} ${tag}`, `${zeroId} ${one} refs/tags/mine`), [
    'tag rule "v*": you may not create it',
    'ok',
  ]);
  t.same(await pushed(work, carol, `${zeroId} ${one} ${tag}`), ['ok']);
  t.same(await pushed(work, alice, `${one} ${two} ${tag}`), ['tag rule "v*": a tag that exists may not be moved']);
  t.same(await pushed(work, carol, `${one} ${zeroId} ${tag}`), ['tag rule "v*": you may not delete it']);
  t.same(await pushed(work, alice, `${one} ${zeroId} ${tag}`), ['ok']);
});

t.test('tasks of the CI push where the rule lets them', async (t) => {
  const work = await openWork(t);
  const { history, repository, repositories, alice } = work;
  const [, , three, four] = history.commits as [string, string, string, string];
  const task: Viewer = { kind: 'task', taskId: 1, repositoryId: repository.id, scope: 'write' };
  const id = await work.add(branchRule('main', { push: { tasks: false } }));
  t.same(await pushed(work, task, `${three} ${four} ${main}`), [
    'branch rule "main": you may not push to it; push another branch and open a pull request',
  ]);
  await repositories.rules.change(alice, 'alice', 'work', id, { grants: { push: { level: 'nobody', tasks: true } } });
  t.same(await pushed(work, alice, `${three} ${four} ${main}`), [
    'branch rule "main": you may not push to it; push another branch and open a pull request',
  ]);
  t.same(await pushed(work, task, `${three} ${four} ${main}`), ['ok']);
});

t.test('a linear branch takes no merge, however it comes', async (t) => {
  const work = await openWork(t);
  const { alice, history, commit, tip } = work;
  const [one, , three, four] = history.commits as [string, string, string, string];
  await work.add({ ...branchRule('{main,line}', { force: { level: 'write' } }), linear: true });
  const merges = 'branch rule "{main,line}": merge commits are not allowed; rebase instead';
  const merge = commit('merge', four, history.aside);
  const onTop = commit('on top', merge);
  t.same(await pushed(work, alice, `${three} ${onTop} ${main}`), [merges], 'behind the tip');
  t.same(await pushed(work, alice, `${zeroId} ${onTop} refs/heads/line`), [merges], 'a new branch');
  t.same(await pushed(work, alice, `${three} ${four} ${main}`), ['ok']);
  t.same(await pushed(work, alice, `${zeroId} ${merge} refs/heads/side`), ['ok'], 'another branch');
  t.same(await pushed(work, alice, `${four} ${merge} ${main}`), [merges], 'what the repository has already');
  const shallow = await push(work, alice, 'alice/work', [`${four} ${onTop} ${main}`], {
    pack: packOf(history.work, onTop, `^${merge}`),
  });
  t.match(shallow.report, [/merge commits are not allowed/], 'a pack that ends at the merge');
  t.same(await pushed(work, alice, `${four} ${history.aside} ${main}`), ['ok'], 'rewritten, and still a line');
  const root = commit('another root');
  t.same(await pushed(work, alice, `${history.aside} ${commit('joins', history.aside, root)} ${main}`), [merges]);
  t.same(await pushed(work, alice, `${zeroId} ${one} refs/heads/line`), ['ok']);
  t.equal(await tip(main), history.aside);
});

t.test('merges that the branch has are no new ones', async (t) => {
  const work = await openWork(t);
  const { alice, history, commit } = work;
  const [, , three, four] = history.commits as [string, string, string, string];
  const merge = commit('merge', four, history.aside);
  t.same(await pushed(work, alice, `${three} ${merge} ${main}`), ['ok']);
  await work.add({ ...branchRule('main', { force: { level: 'write' } }), linear: true });
  const next = commit('next', merge);
  t.same(await pushed(work, alice, `${merge} ${next} ${main}`), ['ok'], 'with the old merge in the pack');
  t.same(await pushed(work, alice, `${next} ${commit('instead', merge)} ${main}`), ['ok']);
});

t.test('more commits than are read are refused, not let through', async (t) => {
  const work = await openWork(t);
  const { alice, history, commit } = work;
  await work.add({ ...branchRule('main'), linear: true });
  const huge = commit('x'.repeat(1_100_000), history.commits[2]!);
  const last = commit('behind it', huge);
  t.match(await pushed(work, alice, `${history.commits[2]} ${last} ${main}`), [/too many commits to look for merges/]);
});

t.test('pages ask the same: branches made and deleted, lost tips restored', async (t) => {
  const work = await openWork(t);
  const { repositories, alice, bob, carol, history, tip } = work;
  const [one, , three] = history.commits as [string, string, string];
  const { branches, pushes, rules } = repositories;
  const id = await work.add(
    branchRule('release/**', { create: { level: 'admin' }, delete: { level: 'admin' }, force: { level: 'admin' } }),
  );
  const create = (viewer: Viewer, name: string) => branches.create(viewer, 'alice', 'work', { name, from: 'main' });
  t.equal(await reasonOf(create(bob, 'release/2')), 'branch_protected');
  await create(carol, 'release/2');
  const remove = (viewer: Viewer, name: string) => branches.delete(viewer, 'alice', 'work', { name, expected: three });
  t.equal(await reasonOf(remove(bob, 'release/2')), 'branch_protected');
  await remove(carol, 'release/2');
  t.equal(await reasonOf(remove(alice, 'main')), 'branch_protected', 'the default branch, for everyone');
  t.equal(await reasonOf(remove(localAdministrator, 'main')), 'branch_protected');

  t.same(await pushed(work, carol, `${three} ${one} ${release}`), ['ok']);
  await pushes.finish();
  const found = await repositories.find(alice, 'alice', 'work');
  const [forced] = (await pushes.listLostTips(found)).filter(({ ref }) => ref === release);
  const undo = (viewer: Viewer, as?: string) => pushes.undo(viewer, 'alice', 'work', { id: forced!.id, as });
  await undo(bob);
  t.equal(await tip(release), three, 'forward again: an ordinary push');
  await pushed(work, carol, `${three} ${history.aside} ${release}`, `${zeroId} ${three} refs/heads/x`);
  await pushes.finish();
  await rules.change(alice, 'alice', 'work', id, { grants: { push: { level: 'owner' } } });
  await pushed(work, alice, `${history.aside} ${one} ${release}`);
  t.equal(await reasonOf(undo(bob)), 'branch_protected', 'who may not push may not undo');
  t.equal(await reasonOf(undo(bob, 'release/rescued')), 'branch_protected');
  await undo(bob, 'rescued');
  await undo(alice);
  t.equal(await tip(release), three);
  await pushed(work, alice, `${three} ${history.commits[3]} ${release}`);
  await pushes.finish();
  const [lost] = (await pushes.listLostTips(found)).filter(({ oldId }) => oldId === history.aside);
  const back = () => pushes.undo(alice, 'alice', 'work', { id: lost!.id });
  await rules.change(alice, 'alice', 'work', id, { grants: { force: { level: 'nobody' } } });
  t.equal(await reasonOf(back()), 'branch_protected', 'an undo that drops commits is a force push');
  await rules.change(alice, 'alice', 'work', id, { grants: { force: { level: 'owner' } } });
  await back();
  t.equal(await tip(release), history.aside);
});

t.test('a restored tip brings no merge to a linear branch', async (t) => {
  const work = await openWork(t);
  const { repositories, alice, history, commit } = work;
  const [, , three, four] = history.commits as [string, string, string, string];
  const merge = commit('merge', four, history.aside);
  await pushed(work, alice, `${three} ${merge} ${main}`);
  await pushed(work, alice, `${merge} ${three} ${main}`);
  await repositories.pushes.finish();
  const [lost] = await repositories.pushes.listLostTips(await repositories.find(alice, 'alice', 'work'));
  await work.add({ ...branchRule('main'), linear: true });
  const undo = (as?: string) => repositories.pushes.undo(alice, 'alice', 'work', { id: lost!.id, as });
  t.equal(await reasonOf(undo()), 'branch_protected');
  await undo('rescued');
});

t.test('a rule that is added while a push arrives decides about it', async (t) => {
  const work = await openWork(t);
  const { repositories, alice, bob, history } = work;
  const [one, , three] = history.commits as [string, string, string];
  const opened = await repositories.openForPush(bob, 'alice', 'work');
  await work.add(branchRule('**', { push: { level: 'owner' } }));
  const { report } = await pushTo(work, bob, opened, [`${three} ${history.aside} ${main}`], { pack: history.pack });
  t.match(report, [/branch rule "\*\*": you may not push to it/]);
  const [first, ...others] = await Promise.all([
    pushed(work, alice, `${three} ${history.commits[3]} ${main}`),
    work.add(branchRule('main', { push: { level: 'nobody' } })),
    ...Array.from({ length: 10 }, (_, at) => pushed(work, alice, `${zeroId} ${one} refs/heads/new-${at}`)),
  ]);
  t.ok(first[0] === 'ok' || /you may not push to it/.test(first[0]!), 'before it or after it, not between');
  t.equal(others.length, 11);
});

t.test('rules are edited by those who administer; what makes no sense is refused by its field', async (t) => {
  const work = await openWork(t);
  const { repositories, alice, bob, carol, log, accounts } = work;
  const { rules } = repositories;
  t.equal(await reasonOf(work.add(branchRule('main'), bob)), 'repository_not_found');
  t.equal(await reasonOf(rules.list(bob, 'alice', 'work')), 'repository_not_found');
  const id = await work.add({ ...branchRule('main', { push: { level: 'admin', people: ['@bob', 'BOB'] } }) }, carol);
  t.equal(await reasonOf(rules.remove(bob, 'alice', 'work', id)), 'repository_not_found');
  t.match(await rules.list(carol, 'alice', 'work'), [
    {
      id,
      position: 1,
      pattern: 'main',
      named: { push: [{ person: { username: 'bob' }, counts: true }], force: [] },
      grants: {
        push: { level: 'admin', tasks: true },
        force: { level: 'nobody', tasks: false },
        create: { level: 'write' },
        delete: { level: 'nobody' },
      },
    },
  ]);
  for (const [input, reason, field] of [
    [branchRule('main'), 'rule_exists', 'pattern'],
    [branchRule(''), 'invalid_pattern', 'pattern'],
    [branchRule('a b'), 'invalid_pattern', 'pattern'],
    [branchRule('{a,{b}}'), 'invalid_pattern', 'pattern'],
    [branchRule('x'.repeat(201)), 'invalid_pattern', 'pattern'],
    [branchRule('a\u202eb'), 'invalid_pattern', 'pattern'],
    [{ ...branchRule('~DEFAULT_BRANCH'), target: 'tag' }, 'invalid_pattern', 'pattern'],
    [{ ...branchRule('x'), target: 'note' }, 'invalid_rule_target', 'target'],
    [branchRule('x', { force: { level: 'everyone' } }), 'invalid_rule_level', 'force_level'],
    [branchRule('x', { push: { people: ['nobody-here'] } }), 'no_such_person', 'push_people'],
    [branchRule('x', { push: { people: Array(51).fill('bob') } }), 'too_many_people', 'push_people'],
  ] as const) {
    const error = await work.add(input).catch((refusal: unknown) => refusal as { reason: string; field: string });
    t.match(error, { reason, field });
  }
  const dave = await accounts.addPerson({ username: 'dave' });
  t.equal(await reasonOf(work.add(branchRule('x', { push: { people: ['dave'] } }))), 'person_may_not_push');
  await repositories.collaborators.add(alice, 'alice', 'work', { username: 'dave', role: 'read' });
  t.equal(await reasonOf(work.add(branchRule('x', { push: { people: ['dave'] } }))), 'person_may_not_push');
  t.ok(dave);
  const second = await work.add(branchRule('m*'));
  t.equal(await reasonOf(rules.change(alice, 'alice', 'work', second, { pattern: 'main' })), 'rule_exists');
  await rules.change(alice, 'alice', 'work', second, { pattern: 'n*', linear: true });
  t.match(await rules.find(alice, 'alice', 'work', second), { pattern: 'n*', linear: true, position: 2 });
  const third = await work.add(branchRule('o*'));
  await rules.move(alice, 'alice', 'work', third, 'up');
  await rules.move(alice, 'alice', 'work', third, 'up');
  await rules.move(alice, 'alice', 'work', id, 'down');
  t.same(
    (await rules.list(alice, 'alice', 'work')).map(({ pattern }) => pattern),
    ['main', 'o*', 'n*'],
    'patterns have an order; a name has none',
  );
  await rules.remove(alice, 'alice', 'work', third);
  await rules.remove(alice, 'alice', 'work', second);
  t.equal(await reasonOf(rules.remove(alice, 'alice', 'work', second)), 'rule_not_found');
  t.equal(await reasonOf(rules.change(alice, 'alice', 'work', second, {})), 'rule_not_found');
  t.equal(await reasonOf(rules.find(alice, 'alice', 'work', second)), 'rule_not_found');
  for (let at = 1; at < 50; at += 1) await work.add(branchRule(`b${at}`));
  t.equal(await reasonOf(work.add(branchRule('one-more'))), 'too_many_rules');
  t.match(log.filter(({ event }) => event.startsWith('repository.rule_')).slice(0, 2), [
    { event: 'repository.rule_added', pattern: 'main', push: 'admin', by: carol.id },
    { event: 'repository.rule_added', pattern: 'm*' },
  ]);
});

t.test('who is named counts while they may write, and vanishes with the account', async (t) => {
  const work = await openWork(t);
  const { repositories, alice, bob, history, accounts } = work;
  const { rules } = repositories;
  const [, , three, four] = history.commits as [string, string, string, string];
  const id = await work.add(branchRule('main', { push: { level: 'nobody', people: ['bob'] } }));
  await repositories.collaborators.changeRole(alice, 'alice', 'work', { username: 'bob', role: 'read' });
  t.equal(await reasonOf(pushed(work, bob, `${three} ${four} ${main}`)), 'read_only_access');
  const named = async () => (await rules.find(alice, 'alice', 'work', id)).named.push;
  t.match(await named(), [{ person: { username: 'bob' }, counts: false }], 'still named');
  await rules.change(alice, 'alice', 'work', id, { grants: { push: { people: ['bob'] } } });
  t.match(await named(), [{ counts: false }], 'and may stay');
  await repositories.collaborators.changeRole(alice, 'alice', 'work', { username: 'bob', role: 'write' });
  t.same(await pushed(work, alice, `${three} ${four} ${main}`), [
    'branch rule "main": you may not push to it; push another branch and open a pull request',
  ]);
  t.same(await pushed(work, bob, `${three} ${four} ${main}`), ['ok']);
  await accounts.deletePerson(bob.id);
  t.same(await named(), []);
});

t.test('what pages show: which names a rule decides about, and what the viewer may', async (t) => {
  const work = await openWork(t);
  const { repositories, alice, bob, history } = work;
  const { rules } = repositories;
  await work.add(branchRule('**', { delete: { level: 'owner' } }));
  const id = await work.add(branchRule('release/1', { delete: { level: 'write' } }));
  await pushed(work, alice, `${zeroId} ${history.commits[0]} refs/heads/a`, `${zeroId} ${history.commits[0]} ${tag}`);
  const found = await repositories.find(alice, 'alice', 'work');
  const decided = await rules.namesDecided(found, await rules.list(alice, 'alice', 'work'), 1);
  t.same(
    [...decided!.values()],
    [
      { names: ['a'], total: 2 },
      { names: ['release/1'], total: 1 },
    ],
  );
  t.same(decided!.get(id), { names: ['release/1'], total: 1 });
  const rights = await rules.rightsIn(bob, found.repository);
  t.equal(rights.patternOf('refs/heads/a'), '**');
  t.equal(rights.patternOf(tag), null);
  t.same(
    ['refs/heads/a', release, main, tag].map((ref) => rights.may(ref, 'delete')),
    [false, true, false, true],
  );
  const protects = await rules.protectedRefs(found.repository);
  t.same([main, tag].map(protects), [true, false]);
  t.same(await rules.protectedDefaults([found.repository]), new Set([found.repository.id]));
});

t.test('the default branch is protected and opened by the rule that decides about it', async (t) => {
  const work = await openWork(t);
  const { repositories, alice } = work;
  const { rules } = repositories;
  const protect = (defaultBranchProtected: boolean) =>
    repositories.edit(alice, 'alice', 'work', { defaultBranchProtected });
  const listed = async () =>
    (await rules.list(alice, 'alice', 'work')).map(({ pattern, grants }) => [pattern, grants.force.level]);
  t.same(await listed(), []);
  await protect(true);
  await protect(true);
  t.same(await listed(), [['~DEFAULT_BRANCH', 'nobody']]);
  await protect(false);
  t.same(await listed(), [], 'a rule that allows everything is none');
  const id = await work.add({ ...branchRule('main'), linear: true });
  await protect(false);
  t.same(await listed(), [['main', 'write']], 'its own rule is changed');
  await protect(true);
  t.same(await listed(), [['main', 'nobody']]);
  await rules.remove(alice, 'alice', 'work', id);
  await work.add(branchRule('**'));
  await protect(false);
  t.same(
    await listed(),
    [
      ['**', 'nobody'],
      ['~DEFAULT_BRANCH', 'write'],
    ],
    'other branches keep theirs',
  );
});

t.test('a person of another scope of token is judged by their role', async (t) => {
  const work = await openWork(t);
  const { alice, history } = work;
  const [, , three, four] = history.commits as [string, string, string, string];
  await work.add(branchRule('main', { push: { level: 'owner' } }));
  const token = viewerOf({ id: alice.id, username: 'alice' }, { via: 'token', scope: 'write' });
  t.same(await pushed(work, token, `${three} ${four} ${main}`), ['ok']);
});

t.test('what a merge needs: read, kept, named and checked', async (t) => {
  const { repositories, alice, bob, add } = await openWork(t);
  const id = await add({
    target: 'branch',
    pattern: 'release/*',
    merging: {
      grant: { level: 'admin', people: ['bob'] },
      approvals: '2',
      approvers: { people: ['bob'] },
      ownersApprove: true,
      approvalsSurvive: 'nothing',
      threadsResolved: true,
      checks: ['build', ' test* ', 'build', ''],
      upToDate: true,
      styles: ['squash', 'rebase'],
      adminsToo: false,
    },
  });
  const rule = await repositories.rules.find(alice, 'alice', 'work', id);
  t.same(rule.merging, {
    grant: { level: 'admin', people: [bob.id], teams: [], tasks: false },
    approvals: 2,
    approvers: { people: [bob.id], teams: [] },
    ownersApprove: true,
    approvalsSurvive: 'nothing',
    threadsResolved: true,
    checks: ['build', 'test*'],
    upToDate: 'yes',
    styles: ['SQUASH', 'REBASE'],
    adminsToo: false,
  });
  t.same(
    rule.named.merge.map(({ person }) => person.username),
    ['bob'],
  );
  await repositories.rules.change(alice, 'alice', 'work', id, { merging: { approvals: 1 } });
  const changed = await repositories.rules.find(alice, 'alice', 'work', id);
  t.same(changed.merging, { ...rule.merging, approvals: 1 }, 'what is left out stays');
  const approvers = async (given: NonNullable<NewRule['merging']>['approvers']): Promise<unknown> => {
    await repositories.rules.change(alice, 'alice', 'work', id, { merging: { approvers: given } });
    return (await repositories.rules.find(alice, 'alice', 'work', id)).merging.approvers;
  };
  const nobody = { people: [], teams: [] };
  const steps: [given: Parameters<typeof approvers>[0], then: unknown][] = [
    [{}, { people: [bob.id], teams: [] }],
    [{ people: [] }, nobody],
    [{ isOn: false, people: ['bob'] }, null],
    [{ people: [], teams: [] }, null],
    [{ isOn: true }, nobody],
    [{ isOn: false }, null],
    [{ people: ['bob'] }, { people: [bob.id], teams: [] }],
  ];
  for (const [given, then] of steps) t.same(await approvers(given), then, JSON.stringify(given));
  const refused = (merging: NewRule['merging']): Promise<unknown> =>
    reasonOf(add({ target: 'branch', pattern: 'x', merging }));
  t.equal(await refused({ approvals: -1 }), 'invalid_approvals');
  t.equal(await refused({ approvals: 'many' }), 'invalid_approvals');
  t.equal(await refused({ approvalsSurvive: 'often' }), 'invalid_survive');
  t.equal(await refused({ checks: ['a*b'] }), 'invalid_checks');
  t.equal(await refused({ checks: ['a\nb'] }), 'invalid_checks');
  t.equal(await refused({ styles: [] }), 'invalid_styles');
  t.equal(await refused({ styles: ['octopus'] }), 'invalid_styles');
  t.equal(await refused({ grant: { level: 'all' } }), 'invalid_rule_level');
  t.equal(await refused({ grant: { people: ['nowhere'] } }), 'no_such_person');
  t.equal(await refused({ approvers: { people: ['nowhere'] } }), 'no_such_person');
  t.equal(await refused({ approvers: { teams: ['reviewers'] } }), 'no_such_team');
  await add({ target: 'tag', pattern: 'v*', merging: { approvals: 3 } });
  const tag = (await repositories.rules.list(alice, 'alice', 'work')).find(({ target }) => target === 'TAG');
  t.equal(tag?.merging.approvals, 0, 'a tag is not merged into');
});
