// The rights on pull requests (the table of collaboration §6), per right and per role.
import t from 'tap';
import { anonymous, isTrustedWithCi, localAdministrator, refusalOnPull, trustInCode } from '../../src/access/index.ts';
import type { CiApproval, CodeFacts } from '../../src/access/index.ts';
import type {
  IssueRefusal,
  IssueRepositoryFacts,
  PersonViewer,
  PullAct,
  PullFacts,
  TaskViewer,
  Viewer,
} from '../../src/access/index.ts';

const alice: PersonViewer = Object.freeze({
  kind: 'person',
  id: 'alice',
  username: 'alice',
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});
const task: TaskViewer = { kind: 'task', taskId: 1, repositoryId: 'repository', scope: 'write' };

const open: IssueRepositoryFacts = Object.freeze({
  id: 'repository',
  visibility: 'PUBLIC',
  ownerUserId: null,
  ownerOrganisationId: 'example',
  organisationRole: null,
  collaboratorRole: null,
  teamRole: null,
  deleted: false,
  archived: false,
  issuesFrom: 'anyone',
  blocked: false,
});
const ofBob: PullFacts = Object.freeze({
  authorId: 'bob',
  submitterId: 'bob',
  locked: false,
  deleted: false,
  held: false,
});
const ofAlice: PullFacts = Object.freeze({ ...ofBob, authorId: 'alice' });
const pushedByAlice: PullFacts = Object.freeze({ ...ofBob, submitterId: 'alice' });

const roles: Record<string, [viewer: Viewer, relation: Partial<IssueRepositoryFacts>]> = {
  anonymous: [anonymous, {}],
  'signed in': [alice, {}],
  GUEST: [alice, { organisationRole: 'GUEST' }],
  'collaborator read': [alice, { collaboratorRole: 'read' }],
  MEMBER: [alice, { organisationRole: 'MEMBER' }],
  'collaborator write': [alice, { collaboratorRole: 'write' }],
  OWNER: [alice, { organisationRole: 'OWNER' }],
  'collaborator admin': [alice, { collaboratorRole: 'admin' }],
  'owning user': [alice, { ownerUserId: 'alice', ownerOrganisationId: null }],
  'command line': [localAdministrator, {}],
  'trusted task': [task, {}],
  'task that reads': [{ ...task, scope: 'read' }, {}],
};

interface Column {
  act: (viewer: Viewer, repository: IssueRepositoryFacts) => IssueRefusal | null;
  change?: Partial<IssueRepositoryFacts>;
  /** Who may; all others may not. */
  may: string[];
}

const on = (pull: PullFacts, act: PullAct, isThreadAuthor = false) => {
  return (viewer: Viewer, repository: IssueRepositoryFacts) =>
    refusalOnPull(viewer, repository, pull, act, isThreadAuthor);
};
const everyRole = Object.keys(roles);
const admins = ['OWNER', 'collaborator admin', 'owning user', 'command line'];
const writers = ['MEMBER', 'collaborator write', ...admins];
const members = ['GUEST', 'collaborator read', ...writers];
const tasks = ['trusted task', 'task that reads'];
const people = ['signed in', ...members];

const table: Record<string, Column> = {
  'read a PUBLIC one': { act: on(ofBob, 'read'), may: everyRole },
  'read a PRIVATE one': { act: on(ofBob, 'read'), change: { visibility: 'PRIVATE' }, may: [...members, ...tasks] },
  'review, when anyone may': { act: on(ofBob, 'review'), may: people },
  'review, when members may': { act: on(ofBob, 'review'), change: { issuesFrom: 'members' }, may: members },
  'review, when none are taken any more': {
    act: on(ofBob, 'review'),
    change: { issuesFrom: 'nobody' },
    may: writers,
  },
  'review, blocked by the owner': { act: on(ofBob, 'review'), change: { blocked: true }, may: members },
  'review, locked': { act: on({ ...ofBob, locked: true }, 'review'), may: writers },
  'push own rounds': { act: on(pushedByAlice, 'add_round'), may: people },
  'push rounds of others': { act: on(ofBob, 'add_round'), may: writers },
  'edit own': { act: on(ofAlice, 'edit'), may: people },
  'edit that of others': { act: on(ofBob, 'edit'), may: writers },
  'ask for a review of own': { act: on(ofAlice, 'request_review'), may: people },
  'ask for a review': { act: on(ofBob, 'request_review'), may: writers },
  'resolve a thread': { act: on(ofBob, 'resolve'), may: writers },
  'resolve an own thread': { act: on(ofBob, 'resolve', true), may: people },
  'resolve a thread of an own pull request': { act: on(ofAlice, 'resolve'), may: people },
  'approval counts': { act: on(ofBob, 'approve'), may: writers },
  merge: { act: on(ofBob, 'merge'), may: writers },
  'merge own': { act: on(ofAlice, 'merge'), may: writers },
  "let a stranger's CI run": { act: on(ofBob, 'run_ci'), may: writers },
  'dismiss a review': { act: on(ofBob, 'dismiss'), may: admins },
  'put first in the merge queue': { act: on(ofAlice, 'queue_first'), may: admins },
};

for (const [right, { act, change = {}, may }] of Object.entries(table)) {
  t.test(`SPEC §5 who may: ${right}`, async (t) => {
    for (const [role, [viewer, relations]] of Object.entries(roles)) {
      const refusal = act(viewer, { ...open, ...change, ...relations });
      t.equal(refusal === null, may.includes(role), `${role}: ${refusal ?? 'may'}`);
    }
  });
}

const acts: PullAct[] = [
  'add_round',
  'edit',
  'review',
  'request_review',
  'resolve',
  'approve',
  'merge',
  'dismiss',
  'run_ci',
  'queue_first',
];

t.test('an archived repository takes none of it; what is hidden or in the trash is hidden for every act', async (t) => {
  for (const [role, [viewer, relations]] of Object.entries(roles)) {
    for (const act of acts) {
      const archived = refusalOnPull(viewer, { ...open, ...relations, archived: true }, ofAlice, act);
      t.equal(archived, role === 'anonymous' ? 'sign_in' : 'archived', `${role}, ${act}`);
      t.equal(refusalOnPull(viewer, { ...open, ...relations }, { ...ofAlice, deleted: true }, act), 'hidden');
    }
    t.equal(refusalOnPull(viewer, { ...open, ...relations, archived: true }, ofBob, 'read'), null, `${role} reads`);
  }
  for (const act of acts) {
    t.equal(refusalOnPull(alice, { ...open, visibility: 'PRIVATE' }, ofAlice, act), 'hidden', 'the author, once out');
    t.equal(refusalOnPull(alice, open, { ...ofBob, held: true }, act), 'hidden', 'what waits for a member');
  }
});

t.test('a token is capped by its scope and by its list of repositories', async (t) => {
  const owner = { ...open, organisationRole: 'OWNER' as const };
  const token = (change: Partial<PersonViewer>): PersonViewer => ({ ...alice, via: 'token', ...change });
  for (const act of acts) {
    t.equal(refusalOnPull(token({ scope: 'read' }), owner, ofAlice, act), 'scope', `read, ${act}`);
    t.equal(refusalOnPull(token({ repositoryIds: ['another'] }), owner, ofAlice, act), 'scope', `listed, ${act}`);
    t.equal(refusalOnPull(token({ repositoryIds: ['repository'] }), owner, ofAlice, act), null, act);
  }
  t.equal(refusalOnPull(token({ scope: 'write' }), owner, ofBob, 'merge'), null);
  t.equal(refusalOnPull(token({ scope: 'write' }), owner, ofBob, 'dismiss'), 'level');
});

t.test('code runs as a push, restricted, or after approval', async (t) => {
  const facts = { isPushedHere: true, isHeadApproved: false, hasMerged: true, changesWorkflows: false };
  const trust = (role: string, change: Partial<CodeFacts> = {}, approval: CiApproval = 'everyone') =>
    trustInCode(roles[role]![0], { ...open, ...roles[role]![1] }, approval, { ...facts, ...change });
  for (const role of everyRole) {
    const mayWrite = writers.includes(role) || role === 'trusted task';
    t.equal(trust(role), mayWrite ? 'trusted' : 'waits', role);
    t.equal(trust(role, { isPushedHere: false }), mayWrite ? 'restricted' : 'waits', `${role}, a fork`);
    const rest = mayWrite ? 'trusted' : 'restricted';
    t.equal(trust(role, { isHeadApproved: true }), rest, `${role}, approved`);
    t.equal(trust(role, {}, 'first_time'), rest, `${role}, after a merge`);
    const waits = mayWrite ? 'trusted' : 'waits';
    t.equal(trust(role, { hasMerged: false }, 'first_time'), waits, `${role}, the first time`);
    t.equal(trust(role, { changesWorkflows: true }, 'first_time'), waits, `${role}, other workflows`);
  }
});

t.test('the CI trusts the code of those who may write', async (t) => {
  const trusted = everyRole.filter((role) => isTrustedWithCi(roles[role]![0], { ...open, ...roles[role]![1] }));
  t.same(trusted.sort(), [...writers, 'trusted task'].sort());
});
