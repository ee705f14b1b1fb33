import { allows, personIdOf, repositoryLevel } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { RepositoryAt } from '../issues/index.ts';
import type { PullDeps } from './deps.ts';
import { pullSchema } from './schema/pull-schema.ts';
import { parseHead } from './sources/find-head.ts';

/**
 * Returns the number of the open pull request from one branch into another; null if there is none, or if the viewer
 * cannot read the head repository. Throws `repository_not_found`, `head_missing` for an empty branch.
 * @param head as in `NewPull`; without a repository, a branch of this one
 */
export async function findByBranches(
  { db, repositories }: Pick<PullDeps, 'db' | 'repositories'>,
  viewer: Viewer,
  at: RepositoryAt,
  { base, head }: { base: string; head: string },
): Promise<number | null> {
  const found = await repositories.find(viewer, at.owner, at.name);
  const { repository, branch } = parseHead(head);
  const rows: { number: number; headId: string }[] = await db.read
    .createQueryBuilder(pullSchema, 'p')
    .innerJoin('issues', 'i', 'i.id = p.issue_id')
    .select(['i.number AS "number"', 'p.head_repository_id AS "headId"'])
    .where('p.repository_id = :repositoryId AND p.base_branch = :base AND p.is_open = :open', {
      repositoryId: found.repository.id,
      base,
      open: true,
    })
    .andWhere('p.head_branch = :branch AND p.head_repository_id IS NOT NULL AND i.held_at IS NULL', { branch })
    .limit(100)
    .getRawMany();
  if (repository === null) return numberOf(rows.find(({ headId }) => headId === found.repository.id));
  const located = await repositories.locate(rows.map(({ headId }) => headId));
  for (const row of rows) {
    const place = located.get(row.headId);
    if (place === undefined || !isNamed(repository.owner, place.owner.handle)) continue;
    if (repository.name !== null && !isNamed(repository.name, place.repository.name)) continue;
    const facts = await repositories.factsOf(personIdOf(viewer), place.repository);
    if (allows(repositoryLevel(viewer, facts), 'read')) return numberOf(row);
  }
  return null;
}

const isNamed = (text: string, name: string): boolean => text.toLowerCase() === name.toLowerCase();

const numberOf = (row: { number: number } | undefined): number | null =>
  row === undefined ? null : Number(row.number);
