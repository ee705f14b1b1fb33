import t from 'tap';
import {
  anonymous,
  collaboratorRoles,
  localAdministrator,
  organisationRoles,
  repositoryLevel,
  visibleRepositories,
  visibleRepositoryParts,
} from '../../src/access/index.ts';
import type {
  CollaboratorRole,
  OrganisationRole,
  PersonViewer,
  RepositoryFacts,
  Viewer,
} from '../../src/access/index.ts';
import type { Database } from '../../src/db/index.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import type { SeededRandom } from '../fixtures/seeded-random.ts';
import { insertRow, openTestDatabase } from '../fixtures/test-database.ts';

interface World {
  people: string[];
  repositories: Omit<RepositoryFacts, 'organisationRole' | 'collaboratorRole'>[];
  /** By `organisation/person`. */
  members: Map<string, OrganisationRole>;
  /** By `repository/person`. */
  collaborators: Map<string, CollaboratorRole>;
}

/** Generates people, organisations and repositories in which every kind of grant occurs, alone and combined. */
function drawWorld(random: SeededRandom): World {
  const people = Array.from({ length: 8 }, () => random.uuid());
  const organisations = Array.from({ length: 5 }, () => random.uuid());
  const world: World = { people, repositories: [], members: new Map(), collaborators: new Map() };
  for (const organisation of organisations) {
    for (const person of people) {
      if (random.chance(0.4)) world.members.set(`${organisation}/${person}`, random.pick(organisationRoles));
    }
  }
  for (let count = 0; count < 120; count++) {
    const ofPerson = random.chance(0.5);
    const id = random.uuid();
    world.repositories.push({
      id,
      visibility: random.chance(0.4) ? 'PUBLIC' : 'PRIVATE',
      ownerUserId: ofPerson ? random.pick(people) : null,
      ownerOrganisationId: ofPerson ? null : random.pick(organisations),
      deleted: random.chance(0.15),
    });
    for (const person of people) {
      if (random.chance(0.12)) world.collaborators.set(`${id}/${person}`, random.pick(collaboratorRoles));
    }
  }
  return world;
}

async function store(db: Database, world: World): Promise<void> {
  await db.write(async (tx) => {
    const times = { created_at: tx.now };
    for (const id of world.people) await insertRow(tx, 'users', { id, username: id, ...times });
    const organisations = new Set([...world.members.keys()].map((key) => key.split('/')[0]!));
    for (const { ownerOrganisationId: id } of world.repositories) if (id !== null) organisations.add(id);
    for (const id of organisations) await insertRow(tx, 'organisations', { id, name: id, ...times });
    for (const [key, role] of world.members) {
      const [organisation_id, user_id] = key.split('/');
      await insertRow(tx, 'organisation_members', { organisation_id, user_id, role, ...times });
    }
    for (const facts of world.repositories) {
      await insertRow(tx, 'repositories', {
        id: facts.id,
        owner_user_id: facts.ownerUserId,
        owner_org_id: facts.ownerOrganisationId,
        name: facts.id,
        name_folded: facts.id,
        visibility: facts.visibility,
        deleted_at: facts.deleted ? tx.now : null,
        updated_at: tx.now,
        ...times,
      });
    }
    for (const [key, role] of world.collaborators) {
      const [repository_id, user_id] = key.split('/');
      await insertRow(tx, 'collaborators', { repository_id, user_id, role, ...times });
    }
  });
}

function drawViewers(world: World, random: SeededRandom): Viewer[] {
  const ids = world.repositories.map((repository) => repository.id);
  const some = () => ids.filter(() => random.chance(0.3));
  const viewers: Viewer[] = [anonymous, localAdministrator];
  for (const repositoryId of [...ids.slice(0, 20), random.uuid()]) {
    viewers.push({ kind: 'task', taskId: 1, repositoryId, scope: random.pick(['read', 'write']) });
  }
  for (const id of [...world.people, random.uuid()]) {
    for (const scope of ['read', 'write', 'admin'] as const) {
      const person: PersonViewer = {
        kind: 'person',
        id,
        username: id,
        isAdministrator: random.chance(0.3),
        via: 'token',
        scope,
        repositoryIds: null,
      };
      viewers.push(person, { ...person, repositoryIds: [] }, { ...person, repositoryIds: some() });
      viewers.push({ ...person, repositoryIds: [...some(), random.uuid(), "' OR 1 = 1 --"] });
    }
  }
  return viewers;
}

/** The rows that the policy function shows, asked repository by repository. */
function visibleByFunction(viewer: Viewer, world: World): string[] {
  const id = viewer.kind === 'person' ? viewer.id : '';
  return world.repositories
    .filter((facts) => {
      const organisationRole = world.members.get(`${facts.ownerOrganisationId}/${id}`) ?? null;
      const collaboratorRole = world.collaborators.get(`${facts.id}/${id}`) ?? null;
      return repositoryLevel(viewer, { ...facts, organisationRole, collaboratorRole }) !== 'none';
    })
    .map((facts) => facts.id);
}

const owners = (world: World) =>
  [
    [{ kind: 'user', id: world.people[0]! }, 'owner_user_id'],
    [
      {
        kind: 'organisation',
        id: world.repositories.find((facts) => facts.ownerUserId === null)!.ownerOrganisationId!,
      },
      'owner_org_id',
    ],
  ] as const;

/** The union of the policy's parts, as a list queries them. */
async function idsInParts(
  db: Database,
  viewer: Viewer,
  ids: string,
  owner?: { kind: 'user' | 'organisation'; id: string; column: string },
): Promise<string[]> {
  const { parts, parameters } = visibleRepositoryParts(viewer, owner);
  const found = new Set<string>();
  for (const { from, where } of parts) {
    const [sql, values] = db.read.connection.driver.escapeQueryWithParameters(
      `SELECT r.id AS id FROM ${from} WHERE ${where} AND r.id IN (SELECT value FROM json_each(:ids))
       ${owner === undefined ? '' : `AND r.${owner.column} = :ownerId`}`,
      { ...parameters, ids, ownerId: owner?.id ?? '' },
    );
    const rows: { id: string }[] = await db.read.query(sql, values);
    for (const { id } of rows) found.add(id);
  }
  return [...found].sort();
}

t.test('security E02, SPEC §5 the policy in SQL and the policy as a function show the same repositories', async (t) => {
  const { db } = await openTestDatabase(t);
  let compared = 0;
  let shown = 0;
  for (const seed of [1, 2, 3]) {
    const random = seededRandom(seed);
    const world = drawWorld(random);
    await store(db, world);
    const ids = JSON.stringify(world.repositories.map((repository) => repository.id));
    for (const viewer of drawViewers(world, random)) {
      const { sql, parameters } = visibleRepositories(viewer, 'r');
      const rows: { id: string }[] = await db.read
        .createQueryBuilder()
        .select('r.id', 'id')
        .from('repositories', 'r')
        .where('r.id IN (SELECT value FROM json_each(:ids))', { ids })
        .andWhere(`(${sql})`, parameters)
        .getRawMany();
      const expected = visibleByFunction(viewer, world).sort();
      const actual = rows.map((row) => row.id).sort();
      if (actual.join() !== expected.join()) t.same(actual, expected, `seed ${seed}, ${JSON.stringify(viewer)}`);
      // The trash is in no list, although the local administrator's condition includes it.
      const listed = expected.filter((id) => world.repositories.some((facts) => facts.id === id && !facts.deleted));
      const inParts = await idsInParts(db, viewer, ids);
      if (inParts.join() !== listed.join()) t.same(inParts, listed, `seed ${seed}, parts, ${JSON.stringify(viewer)}`);
      for (const [owner, column] of owners(world)) {
        const ofOwner = await idsInParts(db, viewer, ids, { ...owner, column });
        const wanted = listed.filter((id) =>
          world.repositories.some(
            (facts) => facts.id === id && (facts.ownerUserId ?? facts.ownerOrganisationId) === owner.id,
          ),
        );
        if (ofOwner.join() !== wanted.join())
          t.same(ofOwner, wanted, `seed ${seed}, parts of ${owner.kind}, ${JSON.stringify(viewer)}`);
      }
      compared += world.repositories.length;
      shown += actual.length;
    }
  }
  t.ok(compared > 35_000, `${compared} combinations of viewer and repository`);
  t.ok(shown > compared / 5 && shown < (compared * 4) / 5, `${shown} of them visible: neither answer is the rule`);
});

t.test('the condition composes with a larger query and another alias', async (t) => {
  const { db } = await openTestDatabase(t);
  const random = seededRandom(9);
  const world = drawWorld(random);
  await store(db, world);
  for (const viewer of drawViewers(world, random).slice(0, 12)) {
    const { sql, parameters } = visibleRepositories(viewer, 'shelf');
    const query = db.read.createQueryBuilder().select('shelf.id', 'id').from('repositories', 'shelf');
    t.same(await query.where(sql, parameters).andWhere('1 = 0').getRawMany(), [], 'no OR escapes the AND beside it');
  }
});
