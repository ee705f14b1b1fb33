// SPEC §5 as a table: every use-case of the module × every kind of viewer × public and private.
import t from 'tap';
import { allows, anonymous, localAdministrator, ownsRepository, repositoryLevel } from '../../src/access/index.ts';
import type {
  CollaboratorRole,
  Level,
  OrganisationRole,
  PersonViewer,
  RepositoryFacts,
  Viewer,
  Visibility,
} from '../../src/access/index.ts';
import { insertRow } from '../fixtures/test-database.ts';
import { sampleImages } from '../images/sample-images.ts';
import { openModules, viewerOf } from './repositories-fixture.ts';
import type { TestModules } from './repositories-fixture.ts';

type At = [owner: string, name: string];

/** Who may: everyone with that level, or the repository owner of SPEC §4.3. */
type Needed = Exclude<Level, 'none'> | 'owner';

interface Act {
  needed: Needed;
  run(modules: TestModules, viewer: Viewer, ...at: At): Promise<unknown>;
}

const png = { declaredType: 'image/png', bytes: sampleImages['image/png'] };

/**
 * Acts with an argument that is refused for itself, so that the right is tested and
 * nothing changes: `invalid` and `conflict` mean that the viewer was let through.
 */
const acts: Record<string, Act> = {
  find: { needed: 'read', run: ({ repositories }, viewer, ...at) => repositories.find(viewer, ...at) },
  openForRead: { needed: 'read', run: ({ repositories }, viewer, ...at) => repositories.openForRead(viewer, ...at) },
  openForPush: { needed: 'write', run: ({ repositories }, viewer, ...at) => repositories.openForPush(viewer, ...at) },
  openImage: {
    needed: 'read',
    run: async ({ repositories }, viewer, ...at) => (await repositories.images.open(viewer, ...at)).close(),
  },
  explainAccess: {
    needed: 'read',
    run: ({ repositories }, viewer, ...at) => repositories.collaborators.explainAccess(viewer, ...at),
  },
  edit: {
    needed: 'admin',
    run: ({ repositories }, viewer, ...at) => repositories.edit(viewer, ...at, { description: 'a\0' }),
  },
  listCollaborators: {
    needed: 'admin',
    run: ({ repositories }, viewer, ...at) => repositories.collaborators.list(viewer, ...at),
  },
  addCollaborator: {
    needed: 'admin',
    run: ({ repositories }, viewer, ...at) =>
      repositories.collaborators.add(viewer, ...at, { username: 'nobody', role: 'read' }),
  },
  changeCollaboratorRole: {
    needed: 'admin',
    run: ({ repositories }, viewer, ...at) =>
      repositories.collaborators.changeRole(viewer, ...at, { username: 'carol', role: 'king' }),
  },
  changeVisibility: {
    needed: 'owner',
    run: async ({ repositories }, viewer, ...at) => {
      const { visibility } = (await repositories.find(viewer, ...at)).repository;
      return repositories.changeVisibility(viewer, ...at, visibility);
    },
  },
  setArchived: {
    needed: 'owner',
    run: ({ repositories }, viewer, ...at) => repositories.setArchived(viewer, ...at, false),
  },
  rename: {
    needed: 'owner',
    run: ({ repositories }, viewer, ...at) => repositories.rename(viewer, ...at, 'not a name'),
  },
  transfer: {
    needed: 'owner',
    run: ({ repositories }, viewer, ...at) => repositories.transfers.start(viewer, ...at, 'nobody'),
  },
  offerOf: { needed: 'owner', run: ({ repositories }, viewer, ...at) => repositories.transfers.offerOf(viewer, ...at) },
  withdrawTransfer: {
    needed: 'owner',
    run: ({ repositories }, viewer, ...at) => repositories.transfers.withdraw(viewer, ...at),
  },
  replaceImage: {
    needed: 'owner',
    run: ({ repositories }, viewer, ...at) =>
      repositories.images.replace(viewer, ...at, { ...png, declaredType: 'text/html' }),
  },
  removeImage: {
    needed: 'owner',
    run: async ({ repositories }, viewer, ...at) => {
      await repositories.images.remove(viewer, ...at);
      // Put back for the cells that follow.
      await repositories.images.replace(localAdministrator, ...at, png);
    },
  },
  moveToTrash: {
    needed: 'owner',
    run: async ({ repositories }, viewer, ...at) => {
      const { id } = await repositories.trash.move(viewer, ...at);
      await repositories.trash.restore(viewer, id);
    },
  },
};

interface Cell {
  who: string;
  viewer: Viewer;
  /** What the policy says, worked out from the ties that the set-up made. */
  may(repository: { id: string; visibility: Visibility; ofOrganisation: boolean }, needed: Needed): boolean;
}

/** Everyone, with every tie, and with every kind of token of those who have one. */
async function makeCells(modules: TestModules): Promise<Cell[]> {
  const { accounts, db, alice, organisations, repositories } = modules;
  const { id: organisationId } = await organisations.find('example');
  const repositoryIds = (await db.read.query('SELECT id FROM repositories')).map(
    (row: { id: string }) => row.id,
  ) as string[];
  const cells: Cell[] = [];

  function add(
    who: string,
    viewer: Viewer,
    grants: {
      owner?: boolean;
      organisation?: OrganisationRole;
      collaborator?: CollaboratorRole;
      team?: CollaboratorRole;
    } = {},
  ) {
    cells.push({
      who,
      viewer,
      may({ id, visibility, ofOrganisation }, needed) {
        const owner = viewer.kind === 'person' && grants.owner === true ? viewer.id : 'another';
        const facts: RepositoryFacts = {
          id,
          visibility,
          ownerUserId: ofOrganisation ? null : owner,
          ownerOrganisationId: ofOrganisation ? organisationId : null,
          organisationRole: ofOrganisation ? (grants.organisation ?? null) : null,
          collaboratorRole: grants.collaborator ?? null,
          teamRole: ofOrganisation ? (grants.team ?? null) : null,
          deleted: false,
        };
        return needed === 'owner' ? ownsRepository(viewer, facts) : allows(repositoryLevel(viewer, facts), needed);
      },
    });
  }
  const addWithTokens = (who: string, person: PersonViewer, grants: Parameters<typeof add>[2]) => {
    add(who, person, grants);
    for (const scope of ['read', 'write', 'admin'] as const)
      add(`${who}, ${scope} token`, { ...person, via: 'token', scope }, grants);
    add(`${who}, admin token for these`, { ...person, via: 'token', repositoryIds }, grants);
    add(`${who}, admin token for none`, { ...person, via: 'token', repositoryIds: [] }, grants);
    add(`${who}, SSH key`, { ...person, via: 'key' }, grants);
  };

  add('anonymous', anonymous);
  add('the command line', localAdministrator);
  for (const scope of ['read', 'write'] as const) {
    add(`a CI task of the first repository, ${scope}`, {
      kind: 'task',
      taskId: 1,
      repositoryId: repositoryIds[0]!,
      scope,
    });
  }
  addWithTokens('owner', alice, { owner: true, organisation: 'OWNER' });
  addWithTokens('outsider', viewerOf(await accounts.addPerson({ username: 'outsider' })), {});
  add('administrator of the instance', {
    ...viewerOf(await accounts.addPerson({ username: 'root2' })),
    isAdministrator: true,
  });
  for (const role of ['GUEST', 'MEMBER', 'OWNER'] as const) {
    const person = viewerOf(await accounts.addPerson({ username: `org-${role.toLowerCase()}` }));
    await organisations.addMember(alice, 'example', { username: person.username!, role });
    addWithTokens(`organisation ${role}`, person, { organisation: role });
  }
  for (const role of ['read', 'write', 'admin'] as const) {
    const person = viewerOf(await accounts.addPerson({ username: `with-${role}` }));
    for (const repository_id of repositoryIds) {
      await db.write((tx) =>
        insertRow(tx, 'collaborators', { repository_id, user_id: person.id, role, created_at: 1 }),
      );
    }
    addWithTokens(`collaborator ${role}`, person, { collaborator: role });
  }
  for (const role of ['read', 'write', 'admin'] as const) {
    const person = viewerOf(await accounts.addPerson({ username: `team-${role}` }));
    const team = { organisation: 'example', name: role };
    await organisations.teams.create(alice, 'example', { name: role, role });
    await organisations.teams.addMember(alice, team, person.username!);
    const owned: { name: string }[] = await db.read.query('SELECT name FROM repositories WHERE owner_org_id = ?', [
      organisationId,
    ]);
    for (const { name } of owned) await repositories.teams.setRole(alice, team, { owner: 'example', name }, null);
    addWithTokens(`in a team with ${role}`, person, { team: role });
  }
  const both = viewerOf(await accounts.addPerson({ username: 'both' }));
  await organisations.addMember(alice, 'example', { username: 'both', role: 'GUEST' });
  for (const repository_id of repositoryIds) {
    await db.write((tx) =>
      insertRow(tx, 'collaborators', { repository_id, user_id: both.id, role: 'write', created_at: 1 }),
    );
  }
  add('GUEST who collaborates with write', both, { organisation: 'GUEST', collaborator: 'write' });
  return cells;
}

t.test(
  'security A08, E06, SPEC §5 every act × every viewer × public and private × owned by a person and an organisation',
  async (t) => {
    const modules = await openModules(t);
    const { repositories, organisations, alice } = modules;
    await organisations.create(alice, { name: 'example' });
    const places: { at: At; id: string; visibility: Visibility; ofOrganisation: boolean }[] = [];
    for (const owner of ['alice', 'example']) {
      for (const visibility of ['PUBLIC', 'PRIVATE'] as const) {
        const name = visibility.toLowerCase();
        const { id } = await repositories.create(alice, { owner, name, visibility, description: 'canary' });
        await repositories.images.replace(alice, owner, name, png);
        places.push({ at: [owner, name], id, visibility, ofOrganisation: owner === 'example' });
      }
    }
    const missing = 'not_found repository_not_found Repository not found';
    const mismatches: string[] = [];
    let count = 0;
    for (const { who, viewer, may } of await makeCells(modules)) {
      for (const place of places) {
        const { at } = place;
        for (const [name, act] of Object.entries(acts)) {
          const response = await act.run(modules, viewer, ...at).then(
            () => 'done',
            (error: { code?: string; reason?: string; message: string }) =>
              `${error.code} ${error.reason} ${error.message}`,
          );
          count += 1;
          const [mayRead, mayAct] = [may(place, 'read'), may(place, act.needed)];
          const letThrough = response === 'done' || /^(invalid|conflict) /.test(response);
          // To a viewer who may read it, a push says what is missing; everything else hides (SPEC §5).
          const hidden =
            name === 'openForPush' && mayRead ? /^forbidden read_only_access / : new RegExp(`^${missing}$`);
          if (mayAct ? !letThrough : !hidden.test(response))
            mismatches.push(`${who}: ${name} ${at.join('/')} → ${response}, expected ${mayAct}`);
          if (!mayRead && /canary|alice|example/.test(response))
            mismatches.push(`${who}: ${name} ${at.join('/')} tells ${response}`);
        }
      }
    }
    t.same(mismatches, []);
    t.ok(count > 2500, `${count} cells`);
    t.comment(`${count} cells`);
  },
);

t.test('security E02, SPEC §5 no list, pin or redirect shows anything that the viewer may not read', async (t) => {
  const modules = await openModules(t);
  const { repositories, organisations, alice } = modules;
  await organisations.create(alice, { name: 'example' });
  const places: { owner: string; name: string; id: string }[] = [];
  for (const [owner, name] of [
    ['alice', 'secret'],
    ['example', 'hidden'],
  ] as const) {
    const { id } = await repositories.create(alice, {
      owner,
      name: `${name}-before`,
      visibility: 'PRIVATE',
      description: 'canary',
    });
    await repositories.rename(alice, owner, `${name}-before`, name);
    places.push({ owner, name, id });
  }
  for (const { who, viewer, may } of await makeCells(modules)) {
    for (const { owner, name, id } of places) {
      const mayRead = may({ id, visibility: 'PRIVATE', ofOrganisation: owner === 'example' }, 'read');
      const { repositories: listed } = await repositories.list(viewer, { limit: 100 });
      t.equal(
        listed.some((row) => row.name === name),
        mayRead,
        `${who}: list ${owner}/${name}`,
      );
      t.equal(
        (await repositories.findMoved(viewer, owner, `${name}-before`)) !== null,
        mayRead,
        `${who}: old path of ${owner}/${name}`,
      );
    }
  }
});
