import t from 'tap';
import { repositoryLevel, visibleRepositories, visibleRepositoryParts } from '../../src/access/index.ts';
import type { Viewer } from '../../src/access/index.ts';
import type { Database } from '../../src/db/index.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { drawViewers, drawWorld, store, teamRoleIn } from './access-world.ts';
import type { World } from './access-world.ts';

/** The rows that the policy function shows, asked repository by repository. */
function visibleByFunction(viewer: Viewer, world: World): string[] {
  const id = viewer.kind === 'person' ? viewer.id : '';
  return world.repositories
    .filter((facts) => {
      const organisationRole = world.members.get(`${facts.ownerOrganisationId}/${id}`) ?? null;
      const collaboratorRole = world.collaborators.get(`${facts.id}/${id}`) ?? null;
      const teamRole = teamRoleIn(world, facts.id, id);
      return repositoryLevel(viewer, { ...facts, organisationRole, collaboratorRole, teamRole }) !== 'none';
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
