import t from 'tap';
import { refusalOnIssue, visibleIssues } from '../../src/access/index.ts';
import type { IssueFacts, Viewer } from '../../src/access/index.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { insertRow, openTestDatabase } from '../fixtures/test-database.ts';
import { generateViewers, generateAccessData, storeAccessData, teamRoleIn } from './access-data.ts';
import type { AccessData } from './access-data.ts';

interface DrawnIssue extends IssueFacts {
  id: string;
  repositoryId: string;
}

function visibleByFunction(viewer: Viewer, accessData: AccessData, issues: readonly DrawnIssue[]): string[] {
  const id = viewer.kind === 'person' ? viewer.id : '';
  const facts = new Map(accessData.repositories.map((repository) => [repository.id, repository]));
  return issues
    .filter((issue) => {
      const repository = facts.get(issue.repositoryId)!;
      const relations = {
        organisationRole: accessData.members.get(`${repository.ownerOrganisationId}/${id}`) ?? null,
        collaboratorRole: accessData.collaborators.get(`${repository.id}/${id}`) ?? null,
        teamRole: teamRoleIn(accessData, repository.id, id),
      };
      const settings = { archived: false, issuesFrom: 'nobody', blocked: true } as const;
      return refusalOnIssue(viewer, { ...repository, ...relations, ...settings }, issue, 'read') === null;
    })
    .map((issue) => issue.id)
    .sort();
}

t.test('security E02 the policy of issues in SQL and as a function show the same issues', async (t) => {
  const { db } = await openTestDatabase(t);
  let [compared, shown] = [0, 0];
  for (const seed of [4, 5]) {
    const random = seededRandom(seed);
    const accessData = generateAccessData(random);
    await storeAccessData(db, accessData);
    const issues: DrawnIssue[] = accessData.repositories.flatMap(({ id: repositoryId }) =>
      [1, 2, 3].map(() => ({
        id: random.uuid(),
        repositoryId,
        authorId: random.chance(0.8) ? random.pick(accessData.people) : null,
        locked: random.chance(0.2),
        deleted: random.chance(0.2),
        held: random.chance(0.4),
      })),
    );
    await db.write(async (tx) => {
      for (const [index, { id, repositoryId, authorId, deleted, held }] of issues.entries())
        await insertRow(tx, 'issues', {
          id,
          repository_id: repositoryId,
          number: index + 1,
          kind: 'ISSUE',
          title: id,
          author_id: authorId,
          state: 'OPEN',
          held_at: held ? 1 : null,
          deleted_at: deleted ? 1 : null,
          created_at: 1,
          updated_at: 1,
        });
    });
    for (const viewer of generateViewers(accessData, random)) {
      const { sql, parameters } = visibleIssues(viewer, 'r', 'i');
      const rows: { id: string }[] = await db.read
        .createQueryBuilder()
        .select('i.id', 'id')
        .from('issues', 'i')
        .innerJoin('repositories', 'r', 'r.id = i.repository_id')
        .where('i.id IN (SELECT value FROM json_each(:ids))', { ids: JSON.stringify(issues.map(({ id }) => id)) })
        .andWhere(sql, parameters)
        .getRawMany();
      const actual = rows.map(({ id }) => id).sort();
      const expected = visibleByFunction(viewer, accessData, issues);
      if (actual.join() !== expected.join()) t.same(actual, expected, `seed ${seed}, ${JSON.stringify(viewer)}`);
      compared += issues.length;
      shown += actual.length;
    }
  }
  t.ok(compared > 50_000, `${compared} combinations of viewer and issue`);
  t.ok(shown > compared / 6 && shown < (compared * 5) / 6, `${shown} of them visible: neither answer is the rule`);
});
