// The rights on releases, per right and per role.
import t from 'tap';
import { anonymous, localAdministrator, refusalOnRelease } from '../../src/access/index.ts';
import type {
  PersonViewer,
  ReleaseAct,
  ReleaseRefusal,
  ReleaseRepositoryFacts,
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
const facts: ReleaseRepositoryFacts = Object.freeze({
  id: 'repository',
  visibility: 'PUBLIC',
  ownerUserId: null,
  ownerOrganisationId: 'example',
  organisationRole: null,
  collaboratorRole: null,
  teamRole: null,
  deleted: false,
  archived: false,
});

type Role = [viewer: Viewer, relation: Partial<ReleaseRepositoryFacts>];
const roles: Record<string, Role> = {
  anonymous: [anonymous, {}],
  'signed in': [alice, {}],
  'administrator of the instance': [{ ...alice, isAdministrator: true }, {}],
  GUEST: [alice, { organisationRole: 'GUEST' }],
  'collaborator read': [alice, { collaboratorRole: 'read' }],
  'collaborator write': [alice, { collaboratorRole: 'write' }],
  MEMBER: [alice, { organisationRole: 'MEMBER' }],
  'collaborator admin': [alice, { collaboratorRole: 'admin' }],
  OWNER: [alice, { organisationRole: 'OWNER' }],
  'owning user': [alice, { ownerUserId: 'alice', ownerOrganisationId: null }],
  'command line': [localAdministrator, {}],
  'token that reads': [{ ...alice, via: 'token', scope: 'read' }, { organisationRole: 'OWNER' }],
  'token for others': [{ ...alice, via: 'token', repositoryIds: ['other'] }, { organisationRole: 'OWNER' }],
  'trusted task': [task, {}],
  'task that reads': [{ ...task, scope: 'read' }, {}],
  'task of another': [{ ...task, repositoryId: 'other' }, {}],
};
const writers = [
  'collaborator write',
  'MEMBER',
  'collaborator admin',
  'OWNER',
  'owning user',
  'command line',
  'trusted task',
];
const readersOfPrivate = [...writers, 'GUEST', 'collaborator read', 'token that reads', 'task that reads'];

const ask = (
  [viewer, relation]: Role,
  change: Partial<ReleaseRepositoryFacts>,
  draft: boolean | null,
  act: ReleaseAct,
): ReleaseRefusal | null =>
  refusalOnRelease(viewer, { ...facts, ...relation, ...change }, draft === null ? null : { draft }, act);

t.test('who reads the repository reads what is published; who writes sees drafts and does the rest', async (t) => {
  for (const [name, role] of Object.entries(roles)) {
    const writes = writers.includes(name);
    t.equal(ask(role, {}, false, 'read'), null, `${name} reads a release`);
    t.equal(ask(role, {}, null, 'read'), null, `${name} lists releases`);
    t.equal(ask(role, {}, true, 'read'), writes ? null : 'hidden', `${name} reads a draft`);
    t.equal(ask(role, {}, true, 'write') === null, writes, `${name} edits a draft`);
    t.equal(ask(role, {}, false, 'write') === null, writes, `${name} edits a release`);
    t.equal(ask(role, {}, null, 'write') === null, writes, `${name} creates a release`);
    const reads = readersOfPrivate.includes(name);
    t.equal(ask(role, { visibility: 'PRIVATE' }, false, 'read'), reads ? null : 'hidden', `${name}, PRIVATE`);
    t.equal(ask(role, { visibility: 'PRIVATE' }, null, 'write') === null, writes, `${name} writes, PRIVATE`);
    t.not(ask(role, { archived: true }, false, 'write'), null, `${name}, archived`);
    t.equal(ask(role, { archived: true }, false, 'read'), null, `${name} reads, archived`);
    if (name !== 'command line')
      t.equal(ask(role, { deleted: true }, false, 'read'), 'hidden', `${name}, in the trash`);
  }
});

t.test('a refusal says what helps', async (t) => {
  const says = (name: string, change = {}): ReleaseRefusal | null => ask(roles[name]!, change, false, 'write');
  t.equal(says('anonymous'), 'sign_in');
  t.equal(says('signed in'), 'level');
  t.equal(says('token that reads'), 'scope');
  t.equal(says('task that reads'), 'scope');
  t.equal(says('OWNER', { archived: true }), 'archived');
  t.equal(says('signed in', { visibility: 'PRIVATE' }), 'hidden');
});
