import t from 'tap';
import { repositoryLevel, visibleRepositories, visibleRepositoryParts } from '../../src/access/index.ts';
import type { Viewer } from '../../src/access/index.ts';
import type { Database } from '../../src/db/index.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { generateViewers, generateAccessData, storeAccessData, teamRoleIn } from './access-data.ts';
import type { AccessData } from './access-data.ts';

/** The rows that the policy function shows, asked repository by repository. */
function visibleByFunction(viewer: Viewer, accessData: AccessData): string[] {
  const id = viewer.kind === 'person' ? viewer.id : '';
  return accessData.repositories
    .filter((facts) => {
      const organisationRole = accessData.members.get(`${facts.ownerOrganisationId}/${id}`) ?? null;
      const collaboratorRole = accessData.collaborators.get(`${facts.id}/${id}`) ?? null;
      const teamRole = teamRoleIn(accessData, facts.id, id);
      return repositoryLevel(viewer, { ...facts, organisationRole, collaboratorRole, teamRole }) !== 'none';
    })
    .map((facts) => facts.id);
}

const owners = (accessData: AccessData) =>
  [
    [{ kind: 'user', id: accessData.people[0]! }, 'owner_user_id'],
    [
      {
        kind: 'organisation',
        id: accessData.repositories.find((facts) => facts.ownerUserId === null)!.ownerOrganisationId!,
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
    const accessData = generateAccessData(random);
    await storeAccessData(db, accessData);
    const ids = JSON.stringify(accessData.repositories.map((repository) => repository.id));
    for (const viewer of generateViewers(accessData, random)) {
      const { sql, parameters } = visibleRepositories(viewer, 'r');
      const rows: { id: string }[] = await db.read
        .createQueryBuilder()
        .select('r.id', 'id')
        .from('repositories', 'r')
        .where('r.id IN (SELECT value FROM json_each(:ids))', { ids })
        .andWhere(`(${sql})`, parameters)
        .getRawMany();
      const expected = visibleByFunction(viewer, accessData).sort();
      const actual = rows.map((row) => row.id).sort();
      if (actual.join() !== expected.join()) t.same(actual, expected, `seed ${seed}, ${JSON.stringify(viewer)}`);
      // The trash is in no list, although the local administrator's condition includes it.
      const listed = expected.filter((id) =>
        accessData.repositories.some((facts) => facts.id === id && !facts.deleted),
      );
      const inParts = await idsInParts(db, viewer, ids);
      if (inParts.join() !== listed.join()) t.same(inParts, listed, `seed ${seed}, parts, ${JSON.stringify(viewer)}`);
      for (const [owner, column] of owners(accessData)) {
        const ofOwner = await idsInParts(db, viewer, ids, { ...owner, column });
        const wanted = listed.filter((id) =>
          accessData.repositories.some(
            (facts) => facts.id === id && (facts.ownerUserId ?? facts.ownerOrganisationId) === owner.id,
          ),
        );
        if (ofOwner.join() !== wanted.join())
          t.same(ofOwner, wanted, `seed ${seed}, parts of ${owner.kind}, ${JSON.stringify(viewer)}`);
      }
      compared += accessData.repositories.length;
      shown += actual.length;
    }
  }
  t.ok(compared > 35_000, `${compared} combinations of viewer and repository`);
  t.ok(shown > compared / 5 && shown < (compared * 4) / 5, `${shown} of them visible: neither answer is the rule`);
});

t.test('the condition composes with a larger query and another alias', async (t) => {
  const { db } = await openTestDatabase(t);
  const random = seededRandom(9);
  const accessData = generateAccessData(random);
  await storeAccessData(db, accessData);
  for (const viewer of generateViewers(accessData, random).slice(0, 12)) {
    const { sql, parameters } = visibleRepositories(viewer, 'shelf');
    const query = db.read.createQueryBuilder().select('shelf.id', 'id').from('repositories', 'shelf');
    t.same(await query.where(sql, parameters).andWhere('1 = 0').getRawMany(), [], 'no OR escapes the AND beside it');
  }
});
