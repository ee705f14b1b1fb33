// Who may fork what into where, as a table; and when a fork may become public or be brought up to date.
import t from 'tap';
import {
  anonymous,
  localAdministrator,
  mayBecomePublic,
  maySync,
  refusalToFork,
  visibilityOfFork,
} from '../../src/access/index.ts';
import type { ForkOwnerFacts, ForkRefusal, PersonViewer, RepositoryFacts, Viewer } from '../../src/access/index.ts';

const alice: PersonViewer = {
  kind: 'person',
  id: 'alice',
  username: 'alice',
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
};
const open: RepositoryFacts = {
  id: 'repository',
  visibility: 'PUBLIC',
  ownerUserId: 'bob',
  ownerOrganisationId: null,
  organisationRole: null,
  collaboratorRole: null,
  teamRole: null,
  deleted: false,
};
const hidden: RepositoryFacts = { ...open, visibility: 'PRIVATE' };
const shared: RepositoryFacts = { ...hidden, collaboratorRole: 'read' };
const ofExample: RepositoryFacts = {
  ...open,
  ownerUserId: null,
  ownerOrganisationId: 'example',
  organisationRole: 'OWNER',
};
const own: ForkOwnerFacts = { kind: 'user', id: 'alice', role: null };
const example = (role: ForkOwnerFacts['role']): ForkOwnerFacts => ({ kind: 'organisation', id: 'example', role });
const task: Viewer = { kind: 'task', taskId: 1, repositoryId: 'repository', scope: 'write' };

const table: [string, Viewer, RepositoryFacts, ForkOwnerFacts, ForkRefusal | null][] = [
  ['a public one into the own handle', alice, open, own, null],
  ['an administrator of the instance has no further right', { ...alice, isAdministrator: true }, hidden, own, 'hidden'],
  ['a hidden one', alice, hidden, own, 'hidden'],
  ['one in the trash', alice, { ...open, deleted: true }, own, 'hidden'],
  ['a private one that is shared', alice, shared, own, null],
  ['into an organisation as OWNER', alice, open, example('OWNER'), null],
  ['as MEMBER', alice, open, example('MEMBER'), null],
  ['as GUEST', alice, open, example('GUEST'), 'owner'],
  ['into one of others', alice, open, example(null), 'owner'],
  ['into the handle of somebody else', alice, open, { ...own, id: 'carol' }, 'owner'],
  ['into the handle of its owner', alice, open, { ...own, id: 'bob' }, 'owner'],
  ['the own one into the own handle', alice, { ...open, ownerUserId: 'alice' }, own, 'same_owner'],
  ['one of the organisation into the same', alice, ofExample, example('OWNER'), 'same_owner'],
  ['one of the organisation into the own handle', alice, ofExample, own, null],
  ['signed out', anonymous, open, own, 'sign_in'],
  ['signed out, a hidden one', anonymous, hidden, own, 'hidden'],
  ['a task of the repository itself', task, hidden, own, 'sign_in'],
  ['a token that reads', { ...alice, via: 'token', scope: 'read' }, open, own, 'scope'],
  ['a token that writes', { ...alice, via: 'token', scope: 'write' }, open, own, null],
  ['a token for this repository alone', { ...alice, via: 'token', repositoryIds: ['repository'] }, open, own, 'scope'],
  ['the command line, for anybody', localAdministrator, hidden, own, null],
  ['the command line, for the owner itself', localAdministrator, hidden, { ...own, id: 'bob' }, 'same_owner'],
];

t.test('who may fork: the table', async (t) => {
  for (const [what, viewer, source, owner, refusal] of table)
    t.equal(refusalToFork(viewer, source, owner), refusal, what);
});

t.test('a fork is as visible as its source, and never shows more', async (t) => {
  t.equal(visibilityOfFork(open), 'PUBLIC');
  t.equal(visibilityOfFork(hidden), 'PRIVATE');
  t.equal(mayBecomePublic(open), true);
  t.equal(mayBecomePublic(hidden), false);
  t.equal(mayBecomePublic(null), true, 'no fork, or one whose source is gone for good');
  t.equal(maySync(open, open), true);
  t.equal(maySync(open, hidden), true);
  t.equal(maySync(hidden, hidden), true);
  t.equal(maySync(hidden, open), false, 'commits of a private source do not become public');
});
