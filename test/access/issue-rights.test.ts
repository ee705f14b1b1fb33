// The rights on issues (SPEC §5 and the table of collaboration) as a table: per right and per role.
import t from 'tap';
import {
  anonymous,
  isTrustedContributor,
  localAdministrator,
  refusalInRepository,
  refusalInTrash,
  refusalOnIssue,
} from '../../src/access/index.ts';
import type {
  IssueAct,
  IssueFacts,
  IssueRefusal,
  IssueRepositoryFacts,
  PersonViewer,
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
const ofBob: IssueFacts = Object.freeze({ authorId: 'bob', locked: false, deleted: false, held: false });
const ofAlice: IssueFacts = Object.freeze({ ...ofBob, authorId: 'alice' });

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

/** One column of the table: an act on an issue of these facts, in a repository changed like this. */
interface Column {
  act: (viewer: Viewer, repository: IssueRepositoryFacts) => IssueRefusal | null;
  change?: Partial<IssueRepositoryFacts>;
  /** Who may; everyone else may not. */
  may: string[];
}

const on = (issue: IssueFacts, act: IssueAct, entry: { position: number; authorId: string | null } | null = null) => {
  return (viewer: Viewer, repository: IssueRepositoryFacts) => refusalOnIssue(viewer, repository, issue, act, entry);
};
const everyRole = Object.keys(roles);
const admins = ['OWNER', 'collaborator admin', 'owning user', 'command line'];
const writers = ['MEMBER', 'collaborator write', ...admins];
const members = ['GUEST', 'collaborator read', ...writers];
const tasks = ['trusted task', 'task that reads'];
const comment = { position: 1, authorId: 'bob' };
const text = { position: 0, authorId: 'bob' };
const own = { position: 1, authorId: 'alice' };

const table: Record<string, Column> = {
  'read a PUBLIC one': { act: on(ofBob, 'read'), may: everyRole },
  'read a PRIVATE one': { act: on(ofBob, 'read'), change: { visibility: 'PRIVATE' }, may: [...members, ...tasks] },
  'open, when anyone may': {
    act: (viewer, repository) => refusalInRepository(viewer, repository, 'contribute'),
    may: ['signed in', ...members, 'trusted task'],
  },
  'open, when members may': {
    act: (viewer, repository) => refusalInRepository(viewer, repository, 'contribute'),
    change: { issuesFrom: 'members' },
    may: [...members, 'trusted task'],
  },
  'comment, react, subscribe, when anyone may': {
    act: on(ofBob, 'contribute'),
    may: ['signed in', ...members, 'trusted task'],
  },
  'comment, when members may': {
    act: on(ofBob, 'contribute'),
    change: { issuesFrom: 'members' },
    may: [...members, 'trusted task'],
  },
  'comment, when issues are turned off': { act: on(ofBob, 'contribute'), change: { issuesFrom: 'nobody' }, may: [] },
  'comment, blocked by the owner': {
    act: on(ofBob, 'contribute'),
    change: { blocked: true },
    may: [...members, 'trusted task'],
  },
  'comment, locked': { act: on(ofBob, 'contribute'), may: [] },
  'edit own': { act: on(ofAlice, 'edit_issue'), may: ['signed in', ...members, 'trusted task'] },
  'edit own, blocked by the owner': {
    act: on(ofAlice, 'edit_issue'),
    change: { blocked: true },
    may: ['signed in', ...members, 'trusted task'],
  },
  'close own': { act: on(ofAlice, 'close'), may: ['signed in', ...members, 'trusted task'] },
  'edit own comment': { act: on(ofBob, 'edit_entry', own), may: ['signed in', ...members] },
  'delete own comment': { act: on(ofBob, 'delete_entry', own), may: ['signed in', ...members] },
  'label, assign, milestone, lock, hide': { act: on(ofBob, 'triage'), may: [...writers, 'trusted task'] },
  'close any': { act: on(ofBob, 'close'), may: [...writers, 'trusted task'] },
  "edit an issue's text of another person": { act: on(ofBob, 'edit_entry', text), may: [...writers, 'trusted task'] },
  "edit another person's comment": { act: on(ofBob, 'edit_entry', comment), may: admins },
  "delete another person's comment": { act: on(ofBob, 'delete_entry', comment), may: admins },
  'delete an issue, move': { act: on(ofBob, 'manage'), may: admins },
  "labels' settings": { act: (viewer, repository) => refusalInRepository(viewer, repository, 'label'), may: admins },
  'settings of issues': { act: (viewer, repository) => refusalInRepository(viewer, repository, 'manage'), may: admins },
  'the trash': { act: refusalInTrash, may: admins },
};
table['comment, locked']!.act = on({ ...ofBob, locked: true }, 'contribute');
table['comment, locked']!.may = [...writers, 'trusted task'];
table['edit own, locked'] = { act: on({ ...ofAlice, locked: true }, 'edit_issue'), may: [...writers, 'trusted task'] };

// The command line has no account, and edits what is "own" as an administrator.
for (const [right, { act, change = {}, may }] of Object.entries(table)) {
  t.test(`SPEC §5 who may: ${right}`, async (t) => {
    for (const [role, [viewer, relations]] of Object.entries(roles)) {
      const refusal = act(viewer, { ...open, ...change, ...relations });
      t.equal(refusal === null, may.includes(role), `${role}: ${refusal ?? 'may'}`);
    }
  });
}

const acts: IssueAct[] = ['contribute', 'triage', 'manage', 'edit_issue', 'close', 'edit_entry', 'delete_entry'];

t.test('an archived repository takes none of it, and a trashed or hidden one shows nothing', async (t) => {
  for (const [role, [viewer, relations]] of Object.entries(roles)) {
    for (const act of acts) {
      const archived = refusalOnIssue(viewer, { ...open, ...relations, archived: true }, ofAlice, act, own);
      t.equal(archived, role === 'anonymous' ? 'sign_in' : 'archived', `${role}, ${act}`);
      t.equal(refusalOnIssue(viewer, { ...open, ...relations }, { ...ofAlice, deleted: true }, act, own), 'hidden');
      if (role !== 'command line')
        t.equal(refusalOnIssue(viewer, { ...open, ...relations, deleted: true }, ofAlice, act, own), 'hidden');
    }
    t.equal(refusalOnIssue(viewer, { ...open, ...relations, archived: true }, ofBob, 'read'), null, `${role} reads`);
  }
});

t.test('what is held is seen by its author and by who may let it in', async (t) => {
  const held = { ...ofBob, held: true };
  const may = [...writers, 'trusted task'];
  for (const [role, [viewer, relations]] of Object.entries(roles)) {
    t.equal(refusalOnIssue(viewer, { ...open, ...relations }, held, 'read') === null, may.includes(role), role);
  }
  t.equal(refusalOnIssue(alice, open, { ...held, authorId: 'alice' }, 'read'), null, 'its author');
});

t.test('a token is capped by its scope and by its list of repositories', async (t) => {
  const owner = { ...open, organisationRole: 'OWNER' as const };
  const token = (change: Partial<PersonViewer>): PersonViewer => ({ ...alice, via: 'token', ...change });
  for (const act of acts) {
    t.equal(refusalOnIssue(token({ scope: 'read' }), owner, ofAlice, act, own), 'scope', `read, ${act}`);
    t.equal(refusalOnIssue(token({ repositoryIds: ['another'] }), owner, ofAlice, act, own), 'scope', `listed, ${act}`);
    t.equal(refusalOnIssue(token({ repositoryIds: ['repository'] }), owner, ofAlice, act, own), null, act);
  }
  const writing = token({ scope: 'write' });
  t.equal(refusalOnIssue(writing, owner, ofBob, 'triage'), null);
  t.equal(refusalOnIssue(writing, owner, ofBob, 'manage'), 'level');
  t.equal(refusalOnIssue(writing, owner, ofBob, 'delete_entry', comment), 'level');
  for (const [scope, refusal] of [
    ['read', 'scope'],
    ['write', null],
    ['admin', null],
  ] as const)
    t.equal(refusalInRepository(token({ scope }), owner, 'label'), refusal, `labels, ${scope}`);
  t.equal(refusalInRepository(writing, open, 'label'), 'level', 'of a stranger');
  t.equal(refusalInRepository(writing, owner, 'manage'), 'level', 'settings are another matter');
  t.equal(refusalInRepository(token({ scope: 'read' }), open, 'contribute'), 'scope', 'nor opens where anyone may');
  t.equal(refusalOnIssue(token({ repositoryIds: [] }), { ...owner, visibility: 'PRIVATE' }, ofBob, 'read'), 'hidden');
  t.equal(refusalOnIssue({ ...task, repositoryId: 'another' }, open, ofBob, 'contribute'), 'scope');
});

t.test('the administrator of the instance has no right of its own', async (t) => {
  for (const act of acts) {
    const administrator = { ...alice, isAdministrator: true };
    t.equal(refusalOnIssue(administrator, open, ofBob, act), refusalOnIssue(alice, open, ofBob, act), act);
  }
});

t.test('members are trusted contributors, others are not', async (t) => {
  const trusted = everyRole.filter((role) => isTrustedContributor(roles[role]![0], { ...open, ...roles[role]![1] }));
  t.same(
    trusted,
    [...members, ...tasks].sort((a, b) => everyRole.indexOf(a) - everyRole.indexOf(b)),
  );
});
