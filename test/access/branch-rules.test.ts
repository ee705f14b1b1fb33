// The policy of branch and tag rules: right by role, act and viewer as one table; which rule decides.
import t from 'tap';
import {
  anonymous,
  defaultBranchPattern,
  judgeRefMove,
  localAdministrator,
  mayByRule,
  noMergeConditions,
  RuleSet,
  ruleActs,
  ruleLevels,
  TooManyRefs,
} from '../../src/access/index.ts';
import type {
  BranchRule,
  PersonViewer,
  RepositoryFacts,
  RuleAct,
  RuleGrant,
  RuleLevel,
  Viewer,
} from '../../src/access/index.ts';

const bare: RepositoryFacts = {
  id: 'r',
  visibility: 'PUBLIC',
  ownerUserId: null,
  ownerOrganisationId: 'o',
  organisationRole: null,
  collaboratorRole: null,
  teamRole: null,
  deleted: false,
};
const person = (id: string, change: Partial<PersonViewer> = {}): PersonViewer => ({
  kind: 'person',
  id,
  username: id,
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
  ...change,
});
const task = (scope: 'read' | 'write', repositoryId = 'r'): Viewer => ({
  kind: 'task',
  taskId: 1,
  repositoryId,
  scope,
});

/** Viewers of every kind, with the levels of a grant that let them in. */
const viewers: [name: string, viewer: Viewer, facts: RepositoryFacts, levels: RuleLevel[], named: boolean][] = [
  ['anonymous', anonymous, bare, [], false],
  ['without ties', person('p'), bare, [], false],
  ['organisation GUEST', person('p'), { ...bare, organisationRole: 'GUEST' }, [], false],
  ['collaborator read', person('p'), { ...bare, collaboratorRole: 'read' }, [], false],
  ['collaborator write', person('p'), { ...bare, collaboratorRole: 'write' }, ['write'], true],
  ['organisation MEMBER', person('p'), { ...bare, organisationRole: 'MEMBER' }, ['write'], true],
  ['collaborator admin', person('p'), { ...bare, collaboratorRole: 'admin' }, ['write', 'admin'], true],
  ['organisation OWNER', person('p'), { ...bare, organisationRole: 'OWNER' }, ['write', 'admin', 'owner'], true],
  ['owner', person('p'), { ...bare, ownerOrganisationId: null, ownerUserId: 'p' }, ['write', 'admin', 'owner'], true],
  [
    'owner by a token that may write',
    person('p', { via: 'token', scope: 'write' }),
    { ...bare, ownerOrganisationId: null, ownerUserId: 'p' },
    ['write', 'admin', 'owner'],
    true,
  ],
  [
    'owner by a token that only reads',
    person('p', { via: 'token', scope: 'read' }),
    { ...bare, ownerOrganisationId: null, ownerUserId: 'p' },
    [],
    false,
  ],
  [
    'owner by a token for another repository',
    person('p', { via: 'token', repositoryIds: ['other'] }),
    { ...bare, ownerOrganisationId: null, ownerUserId: 'p' },
    [],
    false,
  ],
  ['administrator of the server', person('p', { isAdministrator: true }), bare, [], false],
  ['owner of what is in the trash', person('p'), { ...bare, ownerUserId: 'p', deleted: true }, [], false],
  ['command line', localAdministrator, bare, ['write', 'admin', 'owner'], false],
];

const nobody: RuleGrant = { level: 'nobody', people: [], tasks: false };
const ruleOf = (
  grants: Partial<Record<RuleAct, Partial<RuleGrant>>>,
  change: Partial<BranchRule> = {},
): BranchRule => ({
  target: 'BRANCH',
  pattern: 'main',
  grants: {
    push: { ...nobody, ...grants.push },
    force: { ...nobody, ...grants.force },
    create: { ...nobody, ...grants.create },
    delete: { ...nobody, ...grants.delete },
  },
  linear: false,
  merging: noMergeConditions,
  signed: false,
  ...change,
});

t.test('right by role, rule and act', async (t) => {
  for (const [name, viewer, facts, levels, named] of viewers) {
    for (const act of ruleActs) {
      for (const level of ruleLevels) {
        const may = (grant: Partial<RuleGrant>) =>
          mayByRule(viewer, facts, ruleOf({ [act]: { level, ...grant } }), act);
        t.equal(may({}), levels.includes(level), `${name} may ${act} by the role ${level}`);
        t.equal(may({ people: ['q'] }), levels.includes(level), `${name}: another person is named`);
        t.equal(may({ people: ['p'] }), named || levels.includes(level), `${name} is named for ${act}`);
        t.equal(may({ tasks: true }), levels.includes(level), `${name} is no task`);
      }
      const others = ruleOf({ push: { level: 'write' }, force: { level: 'write' }, create: {}, delete: {} });
      if (act === 'create' || act === 'delete') t.notOk(mayByRule(viewer, facts, others, act), 'each act by itself');
    }
  }
});

t.test('tasks of the CI need their own leave, and the right to write', async (t) => {
  for (const level of ruleLevels) {
    const rule = ruleOf({ push: { level, people: ['p'] }, force: { level, tasks: true } });
    t.notOk(mayByRule(task('write'), bare, rule, 'push'));
    t.ok(mayByRule(task('write'), bare, rule, 'force'));
    t.notOk(mayByRule(task('read'), bare, rule, 'force'));
    t.notOk(mayByRule(task('write', 'other'), bare, rule, 'force'));
  }
});

t.test('what a move needs', async (t) => {
  const viewer = person('p');
  const facts: RepositoryFacts = { ...bare, collaboratorRole: 'write' };
  const all = { push: { level: 'write' }, force: { level: 'write' }, create: { level: 'write' } } as const;
  const open = { ...all, delete: { level: 'write' } } as const;
  const judge = (rule: BranchRule | null, kind: 'create' | 'update' | 'delete', isDefaultBranch = false) =>
    judgeRefMove(viewer, facts, rule, { kind, isDefaultBranch });
  const free = { refusal: null, onlyForward: false, linear: false, signed: false };
  for (const kind of ['create', 'update', 'delete'] as const) {
    t.same(judge(null, kind), free, `${kind} without a rule`);
    t.same(judge(ruleOf(open), kind), free);
    const refusal = kind === 'update' ? 'push' : kind;
    t.same(judge(ruleOf({ ...open, [refusal]: {} }), kind), { refusal });
  }
  for (const rule of [null, ruleOf(open)]) {
    t.same(judge(rule, 'delete', true), { refusal: 'default_branch' }, 'for everyone');
    t.same(judgeRefMove(localAdministrator, facts, rule, { kind: 'delete', isDefaultBranch: true }), {
      refusal: 'default_branch',
    });
  }
  t.same(judge(ruleOf({ ...open, force: {} }), 'update'), { ...free, onlyForward: true });
  t.same(judge(ruleOf({ force: { level: 'write' } }), 'update'), { refusal: 'push' }, 'a force push is a push, too');
  t.same(judge(ruleOf(open, { linear: true }), 'update'), { ...free, linear: true });
  t.same(judge(ruleOf(open, { linear: true }), 'create'), { ...free, linear: true });
  t.same(judge(ruleOf(open, { linear: true, signed: true }), 'delete'), free);
  t.same(judge(ruleOf(open, { signed: true }), 'update'), { ...free, signed: true });
  t.same(judge(ruleOf(open, { signed: true }), 'create'), { ...free, signed: true });
  const tag = { target: 'TAG' as const, pattern: 'v*' };
  t.same(judge(ruleOf({ ...open, force: {} }, tag), 'update'), { refusal: 'force' }, 'a tag is moved by force only');
  t.same(judge(ruleOf({ ...open, push: {} }, tag), 'update'), free);
});

t.test('one rule decides: the name itself, then the default branch, then the first pattern', async (t) => {
  const rule = (pattern: string, target: 'BRANCH' | 'TAG' = 'BRANCH') => ruleOf({}, { pattern, target });
  const rules = [rule('**'), rule('m*'), rule(defaultBranchPattern), rule('v*', 'TAG'), rule('release/1')];
  const decides = (ref: string, defaultBranch = 'main', some = rules) =>
    new RuleSet(some, defaultBranch).ruleFor(ref)?.pattern ?? null;
  t.equal(decides('refs/heads/main'), defaultBranchPattern);
  t.equal(decides('refs/heads/main', 'trunk'), '**');
  t.equal(decides('refs/heads/main', 'trunk', rules.slice(1)), 'm*');
  t.equal(decides('refs/heads/main', 'main', [...rules, rule('main')]), 'main');
  t.equal(decides('refs/heads/release/1'), 'release/1');
  t.equal(decides('refs/heads/release/2'), '**');
  t.equal(decides('refs/tags/v1'), 'v*');
  t.equal(decides('refs/tags/main'), null, 'a rule for branches says nothing of tags');
  t.equal(decides('refs/notes/commits'), null);
  t.equal(decides('refs/heads/main', 'main', []), null);
});

t.test('the work for one push is limited', async (t) => {
  const rules = Array.from({ length: 50 }, (_, at) => ruleOf({}, { pattern: `${'*a'.repeat(99)}${at}` }));
  const book = new RuleSet(rules, 'main');
  const start = performance.now();
  t.throws(() => {
    for (let at = 0; at < 100_000; at += 1) book.ruleFor(`refs/heads/${'a'.repeat(200)}${at}x`);
  }, new TooManyRefs('The rules cost too much to evaluate.'));
  t.ok(performance.now() - start < 5_000);
});
