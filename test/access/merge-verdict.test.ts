// Which approvals count, and what stands in the way of a merge: the policy as tables.
import t from 'tap';
import {
  countedApprovals,
  countingApprovals,
  isAbsolute,
  mergeVerdict,
  noMergeConditions,
  requestedChanges,
} from '../../src/access/index.ts';
import type {
  ApprovalsSurvive,
  BranchRule,
  MergeFacts,
  MergeConditions,
  PersonViewer,
  RepositoryFacts,
  ReviewFacts,
  RoundFacts,
} from '../../src/access/index.ts';

const person = (id: string): PersonViewer => ({
  kind: 'person',
  id,
  username: id,
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});
const repository: RepositoryFacts = {
  id: 'repository',
  visibility: 'PUBLIC',
  ownerUserId: null,
  ownerOrganisationId: 'example',
  organisationRole: 'MEMBER',
  collaboratorRole: null,
  teamRole: null,
  deleted: false,
};
const admin: RepositoryFacts = { ...repository, organisationRole: 'OWNER' };
const guest: RepositoryFacts = { ...repository, organisationRole: 'GUEST' };

const round = (
  number: number,
  change: RoundFacts['change'] = number === 1 ? 'first' : 'edited',
  submitterId = 'author',
): RoundFacts => ({
  round: number,
  change,
  submitterId,
});
const review = (authorId: string, change: Partial<ReviewFacts> = {}): ReviewFacts => ({
  authorId,
  round: 1,
  verdict: 'APPROVE',
  submittedAt: 1,
  mayWrite: true,
  ...change,
});

const approvals: Record<
  string,
  { reviews: ReviewFacts[]; rounds?: RoundFacts[]; counts: Record<ApprovalsSurvive, string[]> }
> = {
  'of the last round': { reviews: [review('bob')], counts: { nothing: ['bob'], rebase: ['bob'], anything: ['bob'] } },
  'of a person who may not write any more': {
    reviews: [review('bob', { mayWrite: false })],
    counts: { nothing: [], rebase: [], anything: [] },
  },
  'of the author': { reviews: [review('author')], counts: { nothing: [], rebase: [], anything: [] } },
  'of the author, of what another person pushed': {
    reviews: [review('author')],
    rounds: [round(1, 'first', 'bob')],
    counts: { nothing: [], rebase: [], anything: [] },
  },
  'of a person who pushed the round': {
    reviews: [review('bob')],
    rounds: [round(1, 'first', 'bob')],
    counts: { nothing: [], rebase: [], anything: [] },
  },
  'of a person who pushed a later round': {
    reviews: [review('bob'), review('carol')],
    rounds: [round(1), round(2, 'rebased', 'bob')],
    counts: { nothing: [], rebase: ['carol'], anything: ['carol'] },
  },
  'of a person who pushed an earlier round only': {
    reviews: [review('bob', { round: 2 })],
    rounds: [round(1, 'first', 'bob'), round(2)],
    counts: { nothing: ['bob'], rebase: ['bob'], anything: ['bob'] },
  },
  'before a rebase': {
    reviews: [review('bob')],
    rounds: [round(1), round(2, 'rebased'), round(3, 'rebased')],
    counts: { nothing: [], rebase: ['bob'], anything: ['bob'] },
  },
  'before a rebase and an edit': {
    reviews: [review('bob')],
    rounds: [round(1), round(2, 'rebased'), round(3, 'edited')],
    counts: { nothing: [], rebase: [], anything: ['bob'] },
  },
  'before a commit on top': {
    reviews: [review('bob')],
    rounds: [round(1), round(2, 'added')],
    counts: { nothing: [], rebase: [], anything: ['bob'] },
  },
  'before a round of which nothing is known': {
    reviews: [review('bob')],
    rounds: [round(1), round(2, 'unknown')],
    counts: { nothing: [], rebase: [], anything: ['bob'] },
  },
  'followed by a comment': {
    reviews: [review('bob'), review('bob', { verdict: 'COMMENT', submittedAt: 2 })],
    counts: { nothing: ['bob'], rebase: ['bob'], anything: ['bob'] },
  },
  'followed by a request for changes': {
    reviews: [review('bob'), review('bob', { verdict: 'REQUEST_CHANGES', submittedAt: 2 })],
    counts: { nothing: [], rebase: [], anything: [] },
  },
  'after a request for changes': {
    reviews: [review('bob', { submittedAt: 2 }), review('bob', { verdict: 'REQUEST_CHANGES' })],
    counts: { nothing: ['bob'], rebase: ['bob'], anything: ['bob'] },
  },
  'given twice': {
    reviews: [review('bob'), review('bob', { round: 2, submittedAt: 2 })],
    rounds: [round(1), round(2)],
    counts: { nothing: ['bob'], rebase: ['bob'], anything: ['bob'] },
  },
};

for (const [what, { reviews, rounds = [round(1)], counts }] of Object.entries(approvals)) {
  t.test(`an approval ${what}`, async (t) => {
    for (const [survive, by] of Object.entries(counts) as [ApprovalsSurvive, string[]][])
      t.same(countingApprovals({ reviews, rounds, authorId: 'author' }, survive), by, survive);
  });
}

t.test('a request for changes stands until the same person says otherwise, whatever rounds come', async (t) => {
  const against = review('bob', { verdict: 'REQUEST_CHANGES' });
  t.same(requestedChanges({ reviews: [against] }), ['bob']);
  t.same(requestedChanges({ reviews: [against, review('carol', { submittedAt: 2 })] }), ['bob']);
  t.same(requestedChanges({ reviews: [against, review('bob', { submittedAt: 2 })] }), []);
  t.same(requestedChanges({ reviews: [{ ...against, mayWrite: false }] }), [], 'of a reader it is an opinion');
});

const ready: MergeFacts = {
  state: 'OPEN',
  isDraft: false,
  authorId: 'author',
  mergeState: 'CLEAN',
  baseExists: true,
  isUpToDate: true,
  rounds: [round(1)],
  reviews: [],
  owners: [],
  openThreads: 0,
  checks: new Map(),
};
const grant = { level: 'write' as const, people: [], tasks: false };
const ruleWith = (merging: Partial<MergeConditions>): BranchRule => ({
  target: 'BRANCH',
  pattern: 'main',
  grants: { push: grant, force: grant, create: grant, delete: grant },
  linear: false,
  signed: false,
  merging: { ...noMergeConditions, ...merging },
});
const kinds = (
  facts: Partial<MergeFacts>,
  merging: Partial<MergeConditions> | null = null,
  style: string | null = null,
) =>
  mergeVerdict(
    person('alice'),
    repository,
    merging === null ? null : ruleWith(merging),
    { ...ready, ...facts },
    style,
  ).blocks.map(({ kind }) => kind);

const ownersOf = (...userIds: string[]) => [{ pattern: '*.ts', userIds }];
const blocked: Record<
  string,
  [facts: Partial<MergeFacts>, merging: Partial<MergeConditions> | null, blocks: string[]]
> = {
  nothing: [{}, null, []],
  'nothing, by a rule that asks for nothing': [{}, {}, []],
  closed: [{ state: 'CLOSED', isDraft: true }, null, ['not_open']],
  merged: [{ state: 'MERGED' }, null, ['not_open']],
  draft: [{ isDraft: true }, null, ['draft']],
  'base branch gone': [{ baseExists: false, mergeState: 'UNKNOWN' }, null, ['no_base', 'unknown']],
  conflict: [{ mergeState: 'CONFLICT' }, null, ['conflict']],
  'nothing to merge': [{ mergeState: 'EMPTY' }, null, ['empty']],
  'no common history': [{ mergeState: 'UNRELATED' }, null, ['unrelated']],
  'changes requested, without any rule': [
    { reviews: [review('bob', { verdict: 'REQUEST_CHANGES' })] },
    null,
    ['changes_requested'],
  ],
  'too few approvals': [{ reviews: [review('bob')] }, { approvals: 2 }, ['approvals']],
  'enough approvals': [{ reviews: [review('bob'), review('carol')] }, { approvals: 2 }, []],
  'approvals that did not survive': [
    { reviews: [review('bob')], rounds: [round(1), round(2)] },
    { approvals: 1, approvalsSurvive: 'rebase' },
    ['approvals'],
  ],
  'an approval of a person whom the rule does not name': [
    { reviews: [review('bob')] },
    { approvals: 1, approvers: { people: ['carol'], teams: [] } },
    ['approvals'],
  ],
  'an approval of a person whom the rule names': [
    { reviews: [review('bob'), review('carol')] },
    { approvals: 1, approvers: { people: ['carol'], teams: [] } },
    [],
  ],
  'an approval of a member of a team that the rule names': [
    { reviews: [review('bob')] },
    { approvals: 1, approvers: { people: [], teams: [{ id: 'reviewers', people: ['carol', 'bob'] }] } },
    [],
  ],
  'fewer named people than approvals': [
    { reviews: [review('bob'), review('carol'), review('dave')] },
    { approvals: 3, approvers: { people: ['carol', 'dave'], teams: [] } },
    ['approvals'],
  ],
  'named people who may not write, who are the author, or whose approval did not survive': [
    {
      reviews: [review('bob', { mayWrite: false }), review('author'), review('carol', { round: 1 })],
      rounds: [round(1), round(2)],
    },
    { approvals: 1, approvers: { people: ['author', 'bob', 'carol'], teams: [] } },
    ['approvals'],
  ],
  'nobody who is named': [
    { reviews: [review('bob')] },
    { approvals: 1, approvers: { people: [], teams: [] } },
    ['approvals'],
  ],
  'nobody who is named, where no approval is needed': [{}, { approvers: { people: [], teams: [] } }, []],
  'an owner who is not named: theirs counts as the owner’s, not for the number': [
    { reviews: [review('carol')], owners: ownersOf('carol') },
    { approvals: 1, ownersApprove: true, approvers: { people: ['bob'], teams: [] } },
    ['approvals'],
  ],
  'an owner who is not named, beside one who is': [
    { reviews: [review('carol'), review('bob')], owners: ownersOf('carol') },
    { approvals: 1, ownersApprove: true, approvers: { people: ['bob'], teams: [] } },
    [],
  ],
  'a change requested by one who is not named': [
    { reviews: [review('bob', { verdict: 'REQUEST_CHANGES' })] },
    { approvers: { people: ['carol'], teams: [] } },
    ['changes_requested'],
  ],
  'owners who did not approve': [
    { reviews: [review('bob')], owners: ownersOf('carol') },
    { ownersApprove: true },
    ['owners'],
  ],
  'an owner who did': [{ reviews: [review('carol')], owners: ownersOf('dave', 'carol') }, { ownersApprove: true }, []],
  'owners of a second group': [
    { reviews: [review('carol')], owners: [...ownersOf('carol'), { pattern: 'docs/', userIds: ['dave'] }] },
    { ownersApprove: true },
    ['owners'],
  ],
  'owners, where the rule does not ask': [{ owners: ownersOf('carol') }, {}, []],
  'open threads': [{ openThreads: 1 }, { threadsResolved: true }, ['threads']],
  'open threads, where the rule does not ask': [{ openThreads: 1 }, {}, []],
  'a check that is missing': [{}, { checks: ['build'] }, ['checks']],
  'a check that failed': [{ checks: new Map([['build', 'failure']]) }, { checks: ['build'] }, ['checks']],
  'a check that succeeded': [
    {
      checks: new Map([
        ['build', 'success'],
        ['lint', 'failure'],
      ]),
    },
    { checks: ['build'] },
    [],
  ],
  'checks by their beginning': [
    {
      checks: new Map([
        ['build (1)', 'success'],
        ['build (2)', 'pending'],
      ]),
    },
    { checks: ['build*'] },
    ['checks'],
  ],
  'behind, where it must not be': [{ isUpToDate: false }, { upToDate: 'yes' }, ['behind']],
  'behind, where a queue merges': [{ isUpToDate: false, isByQueue: true }, { upToDate: 'queue' }, []],
  'past the queue': [{}, { upToDate: 'queue' }, ['queue']],
  'checks of the queue are not asked of the head': [
    { isByQueue: true },
    { upToDate: 'queue', checks: ['ci (merge_group)'] },
    [],
  ],
  'behind, where it may be': [{ isUpToDate: false }, {}, []],
};

for (const [what, [facts, merging, blocks]] of Object.entries(blocked))
  t.test(`in the way of a merge: ${what}`, async (t) => t.same(kinds(facts, merging), blocks));

t.test('a reviewer is shown as counted whose approval meets a condition of the rule', async (t) => {
  const facts = { ...ready, reviews: [review('bob'), review('carol'), review('dave')], owners: ownersOf('carol') };
  const counted = (merging: Partial<MergeConditions>) => countedApprovals(facts, { ...noMergeConditions, ...merging });
  const approvers = { people: ['bob'], teams: [] };
  t.same(counted({}), ['bob', 'carol', 'dave']);
  t.same(counted({ approvers }), ['bob']);
  t.same(counted({ approvers, ownersApprove: true }), ['bob', 'carol']);
});

t.test('a style that the rule does not have', async (t) => {
  t.same(kinds({}, { styles: ['SQUASH'] }, 'MERGE'), ['style']);
  t.same(kinds({}, { styles: ['SQUASH'] }, 'SQUASH'), []);
  t.same(kinds({}, { styles: ['SQUASH'] }), [], 'before one is chosen');
});

t.test('who may merge, and who may in spite of blocks', async (t) => {
  const verdict = (
    facts: RepositoryFacts,
    merging: Partial<MergeConditions> | null,
    change: Partial<MergeFacts> = {},
  ) => {
    const { blocks, mayBypass } = mergeVerdict(person('alice'), facts, merging === null ? null : ruleWith(merging), {
      ...ready,
      ...change,
    });
    return [blocks.map(({ kind }) => kind), mayBypass];
  };
  const threads = { openThreads: 1 };
  t.same(verdict(guest, null), [['level'], false]);
  t.same(verdict(repository, null), [[], false]);
  t.same(verdict(repository, { grant: { level: 'admin', people: [], tasks: false } }), [['level'], false]);
  t.same(verdict(repository, { grant: { level: 'nobody', people: ['alice'], tasks: false } }), [[], false]);
  t.same(verdict(admin, { threadsResolved: true, adminsToo: true }, threads), [['threads'], false]);
  t.same(verdict(admin, { threadsResolved: true, adminsToo: false }, threads), [['threads'], true]);
  t.same(verdict(repository, { threadsResolved: true, adminsToo: false }, threads), [['threads'], false]);
  const conflict = { ...threads, mergeState: 'CONFLICT' } as const;
  t.same(verdict(admin, { threadsResolved: true, adminsToo: false }, conflict), [['conflict', 'threads'], false]);
  t.ok(isAbsolute({ kind: 'conflict' }));
  t.notOk(isAbsolute({ kind: 'threads', open: 1 }));
});
