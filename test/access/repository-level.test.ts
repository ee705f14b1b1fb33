import t from 'tap';
import {
  allows,
  anonymous,
  describeAccessGrant,
  isLocalAdministrator,
  localAdministrator,
  ownsRepository,
  repositoryLevel,
  scopeAllows,
  accessGrantsOf,
} from '../../src/access/index.ts';
import type { Level, PersonViewer, RepositoryFacts } from '../../src/access/index.ts';

const alice: PersonViewer = Object.freeze({
  kind: 'person',
  id: 'alice',
  username: 'alice',
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});

const ofBob: RepositoryFacts = Object.freeze({
  id: 'repository',
  visibility: 'PRIVATE',
  ownerUserId: 'bob',
  ownerOrganisationId: null,
  organisationRole: null,
  collaboratorRole: null,
  teamRole: null,
  deleted: false,
});
const ofExample: RepositoryFacts = Object.freeze({ ...ofBob, ownerUserId: null, ownerOrganisationId: 'example' });

const factsByRelation: Record<string, RepositoryFacts> = {
  outsider: ofBob,
  'outsider to the organisation': ofExample,
  'collaborator read': { ...ofBob, collaboratorRole: 'read' },
  'collaborator write': { ...ofBob, collaboratorRole: 'write' },
  'collaborator admin': { ...ofBob, collaboratorRole: 'admin' },
  GUEST: { ...ofExample, organisationRole: 'GUEST' },
  MEMBER: { ...ofExample, organisationRole: 'MEMBER' },
  OWNER: { ...ofExample, organisationRole: 'OWNER' },
  'GUEST who collaborates with write': { ...ofExample, organisationRole: 'GUEST', collaboratorRole: 'write' },
  'OWNER who collaborates with read': { ...ofExample, organisationRole: 'OWNER', collaboratorRole: 'read' },
  'in a team with read': { ...ofExample, teamRole: 'read' },
  'in a team with write': { ...ofExample, teamRole: 'write' },
  'in a team with admin': { ...ofExample, teamRole: 'admin' },
  'GUEST in a team with write': { ...ofExample, organisationRole: 'GUEST', teamRole: 'write' },
  'MEMBER in a team with admin': { ...ofExample, organisationRole: 'MEMBER', teamRole: 'admin' },
  'OWNER in a team with read': { ...ofExample, organisationRole: 'OWNER', teamRole: 'read' },
  'owning user': { ...ofBob, ownerUserId: 'alice' },
};

// Viewer, then the level with scope admin, write, read, and with a token for other repositories only.
type Row = [who: string, admin: Level, write: Level, read: Level, listedElsewhere: Level];
const table: Record<'PRIVATE' | 'PUBLIC', Row[]> = {
  PRIVATE: [
    ['outsider', 'none', 'none', 'none', 'none'],
    ['outsider to the organisation', 'none', 'none', 'none', 'none'],
    ['collaborator read', 'read', 'read', 'read', 'none'],
    ['collaborator write', 'write', 'write', 'read', 'none'],
    ['collaborator admin', 'admin', 'write', 'read', 'none'],
    ['GUEST', 'read', 'read', 'read', 'none'],
    ['MEMBER', 'write', 'write', 'read', 'none'],
    ['OWNER', 'admin', 'write', 'read', 'none'],
    ['GUEST who collaborates with write', 'write', 'write', 'read', 'none'],
    ['OWNER who collaborates with read', 'admin', 'write', 'read', 'none'],
    ['in a team with read', 'read', 'read', 'read', 'none'],
    ['in a team with write', 'write', 'write', 'read', 'none'],
    ['in a team with admin', 'admin', 'write', 'read', 'none'],
    ['GUEST in a team with write', 'write', 'write', 'read', 'none'],
    ['MEMBER in a team with admin', 'admin', 'write', 'read', 'none'],
    ['OWNER in a team with read', 'admin', 'write', 'read', 'none'],
    ['owning user', 'admin', 'write', 'read', 'none'],
  ],
  PUBLIC: [
    ['outsider', 'read', 'read', 'read', 'read'],
    ['outsider to the organisation', 'read', 'read', 'read', 'read'],
    ['collaborator read', 'read', 'read', 'read', 'read'],
    ['collaborator write', 'write', 'write', 'read', 'read'],
    ['collaborator admin', 'admin', 'write', 'read', 'read'],
    ['GUEST', 'read', 'read', 'read', 'read'],
    ['MEMBER', 'write', 'write', 'read', 'read'],
    ['OWNER', 'admin', 'write', 'read', 'read'],
    ['GUEST who collaborates with write', 'write', 'write', 'read', 'read'],
    ['OWNER who collaborates with read', 'admin', 'write', 'read', 'read'],
    ['in a team with read', 'read', 'read', 'read', 'read'],
    ['in a team with write', 'write', 'write', 'read', 'read'],
    ['in a team with admin', 'admin', 'write', 'read', 'read'],
    ['GUEST in a team with write', 'write', 'write', 'read', 'read'],
    ['MEMBER in a team with admin', 'admin', 'write', 'read', 'read'],
    ['OWNER in a team with read', 'admin', 'write', 'read', 'read'],
    ['owning user', 'admin', 'write', 'read', 'read'],
  ],
};

for (const visibility of ['PRIVATE', 'PUBLIC'] as const) {
  t.test(`security E06, SPEC §5 the policy for a ${visibility} repository`, async (t) => {
    t.equal(table[visibility].length, Object.keys(factsByRelation).length, 'every tie is in the table');
    for (const [who, admin, write, read, listedElsewhere] of table[visibility]) {
      const facts = { ...factsByRelation[who]!, visibility };
      const level = (change: Partial<PersonViewer>) => repositoryLevel({ ...alice, ...change }, facts);
      t.strictSame(
        [
          level({ scope: 'admin' }),
          level({ scope: 'write', via: 'token' }),
          level({ scope: 'read', via: 'token' }),
          level({ scope: 'admin', via: 'token', repositoryIds: ['another'] }),
        ],
        [admin, write, read, listedElsewhere],
        who,
      );
      t.equal(level({ via: 'token', repositoryIds: ['another', 'repository'] }), admin, `${who}, listed by the token`);
      t.equal(level({ via: 'token', repositoryIds: [] }), listedElsewhere, `${who}, token without repositories`);
      t.equal(level({ via: 'key' }), admin, `${who}, with an SSH key`);
    }
    t.equal(
      repositoryLevel(anonymous, { ...ofBob, visibility }),
      visibility === 'PUBLIC' ? 'read' : 'none',
      'anonymous',
    );
  });
}

t.test('a CI task works on its own repository and is anonymous elsewhere', async (t) => {
  const task = { kind: 'task', taskId: 7, repositoryId: ofBob.id, scope: 'write' } as const;
  t.equal(repositoryLevel(task, ofBob), 'write');
  t.equal(repositoryLevel({ ...task, scope: 'read' }, ofBob), 'read');
  t.equal(repositoryLevel(task, { ...ofBob, deleted: true }), 'none');
  t.equal(repositoryLevel({ ...task, repositoryId: 'another' }, ofBob), 'none');
  t.equal(repositoryLevel({ ...task, repositoryId: 'another' }, { ...ofBob, visibility: 'PUBLIC' }), 'read');
  t.notOk(ownsRepository(task, ofBob));
  t.notOk(scopeAllows(task, 'read'), 'it has no rights outside of repositories');
});

t.test('SPEC §5 the administrator of the instance has no rights on repositories of others', async (t) => {
  const administrator = { ...alice, isAdministrator: true };
  for (const [who, facts] of Object.entries(factsByRelation)) {
    for (const visibility of ['PRIVATE', 'PUBLIC'] as const) {
      const here = { ...facts, visibility };
      t.equal(repositoryLevel(administrator, here), repositoryLevel(alice, here), `${who}, ${visibility}`);
    }
  }
});

t.test('the command line administers everything, the trash too', async (t) => {
  for (const facts of Object.values(factsByRelation)) {
    t.equal(repositoryLevel(localAdministrator, facts), 'admin');
    t.equal(repositoryLevel(localAdministrator, { ...facts, deleted: true }), 'admin');
  }
  t.ok(isLocalAdministrator(localAdministrator));
  t.notOk(isLocalAdministrator({ ...alice, isAdministrator: true }));
  t.notOk(isLocalAdministrator(anonymous));
  t.throws(() => ((localAdministrator as { via: string }).via = 'session'), 'shared, therefore frozen');
});

t.test('a repository in the trash is hidden from every viewer, its owner included', async (t) => {
  for (const facts of Object.values(factsByRelation)) {
    for (const visibility of ['PRIVATE', 'PUBLIC'] as const) {
      t.equal(repositoryLevel(alice, { ...facts, visibility, deleted: true }), 'none');
      t.equal(repositoryLevel(anonymous, { ...facts, visibility, deleted: true }), 'none');
    }
  }
});

t.test('a person before onboarding has the same rights', async (t) => {
  for (const facts of Object.values(factsByRelation)) {
    t.equal(repositoryLevel({ ...alice, username: null }, facts), repositoryLevel(alice, facts));
  }
});

t.test('each level includes those before it and nothing above', async (t) => {
  const order: Level[] = ['none', 'read', 'write', 'admin'];
  for (const [heldAt, held] of order.entries()) {
    for (const [neededAt, needed] of order.entries()) {
      t.equal(allows(held, needed), heldAt >= neededAt, `${held} for ${needed}`);
    }
  }
});

t.test('a scope covers actions that are about no repository; anonymous has none', async (t) => {
  t.ok(scopeAllows(alice, 'admin'));
  t.ok(scopeAllows({ ...alice, scope: 'write' }, 'read'));
  t.notOk(scopeAllows({ ...alice, scope: 'write' }, 'admin'));
  t.notOk(scopeAllows({ ...alice, scope: 'read' }, 'write'));
  t.notOk(scopeAllows(anonymous, 'read'));
});

t.test(
  'SPEC §4.3 the repository owner is the owning user or an OWNER of the owning organisation, and no other person',
  async (t) => {
    const owners = ['OWNER', 'OWNER who collaborates with read', 'OWNER in a team with read', 'owning user'];
    for (const [who, facts] of Object.entries(factsByRelation)) {
      for (const visibility of ['PRIVATE', 'PUBLIC'] as const) {
        const owns = (change: Partial<PersonViewer>) =>
          ownsRepository({ ...alice, ...change }, { ...facts, visibility });
        t.equal(owns({}), owners.includes(who), `${who}, ${visibility}`);
        t.equal(owns({ isAdministrator: true }), owners.includes(who), `${who}, administrator of the instance`);
        t.equal(owns({ via: 'token', scope: 'write' }), false, `${who}, with a token that may only write`);
        t.equal(owns({ via: 'token', repositoryIds: ['another'] }), false, `${who}, with a token for others`);
        t.equal(
          owns({ via: 'token', repositoryIds: ['repository'] }),
          owners.includes(who),
          `${who}, listed by the token`,
        );
        t.equal(ownsRepository(anonymous, { ...facts, visibility }), false);
        t.equal(ownsRepository(localAdministrator, { ...facts, visibility }), true);
        t.equal(ownsRepository(alice, { ...facts, visibility, deleted: true }), false, `${who}, in the trash`);
      }
    }
  },
);

t.test('every grant is named, the strongest first, and the strongest is in effect', async (t) => {
  const named = Object.entries(factsByRelation).map(([who, facts]) => [
    who,
    accessGrantsOf('alice', facts).map(describeAccessGrant),
  ]);
  t.strictSame(Object.fromEntries(named), {
    outsider: [],
    'outsider to the organisation': [],
    'collaborator read': ['collaborator read'],
    'collaborator write': ['collaborator write'],
    'collaborator admin': ['collaborator admin'],
    GUEST: ['organisation GUEST'],
    MEMBER: ['organisation MEMBER'],
    OWNER: ['organisation OWNER'],
    'GUEST who collaborates with write': ['collaborator write', 'organisation GUEST'],
    'OWNER who collaborates with read': ['organisation OWNER', 'collaborator read'],
    'in a team with read': ['team read'],
    'in a team with write': ['team write'],
    'in a team with admin': ['team admin'],
    'GUEST in a team with write': ['team write', 'organisation GUEST'],
    'MEMBER in a team with admin': ['team admin', 'organisation MEMBER'],
    'OWNER in a team with read': ['organisation OWNER', 'team read'],
    'owning user': ['owner'],
  });
  for (const [who, facts] of Object.entries(factsByRelation)) {
    t.equal(accessGrantsOf('alice', facts)[0]?.level ?? 'none', repositoryLevel(alice, facts), who);
  }
});

t.test('a deploy key opens its own repository, as far as it may, and no other', async (t) => {
  const key = { kind: 'deployKey', id: 'key', title: 'CI', repositoryId: 'repository' } as const;
  const levels = (facts: RepositoryFacts) =>
    (['read', 'write'] as const).map((scope) => repositoryLevel({ ...key, scope }, facts));
  t.strictSame(levels(ofBob), ['read', 'write']);
  t.strictSame(levels({ ...ofBob, id: 'other' }), ['none', 'none']);
  t.strictSame(levels({ ...ofBob, id: 'other', visibility: 'PUBLIC' }), ['none', 'none'], 'it serves one repository');
  t.strictSame(levels({ ...ofBob, deleted: true }), ['none', 'none']);
});
