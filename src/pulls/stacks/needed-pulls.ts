import type { EntityManager } from 'typeorm';
import { issueLinkSchema } from '../../issues/index.ts';
import type { Issue } from '../../issues/index.ts';
import { limits } from '../limits.ts';

/** A pull request that must be merged before another one. */
interface NeededPull {
  issueId: string;
  repositoryId: string;
  number: number;
  state: Issue['state'];
  stackedOnOid: string | null;
}

/** The pull requests on which one depends, of any repository; issues and pull requests in the trash block nothing. */
export async function neededBy(source: EntityManager, issueId: string): Promise<NeededPull[]> {
  const rows: NeededPull[] = await source
    .createQueryBuilder(issueLinkSchema, 'l')
    .innerJoin('issues', 'i', 'i.id = l.to_id')
    .innerJoin('pulls', 'p', 'p.issue_id = l.to_id')
    .select([
      'i.id AS "issueId"',
      'i.repository_id AS "repositoryId"',
      'i.number AS "number"',
      'i.state AS "state"',
      'p.stacked_on_oid AS "stackedOnOid"',
    ])
    .where("l.from_id = :issueId AND l.kind = 'needs' AND i.deleted_at IS NULL", { issueId })
    .limit(limits.neededPulls)
    .getRawMany();
  return rows.map((row) => ({ ...row, number: Number(row.number) }));
}

/**
 * Dependencies that block a merge. The number is null for another repository, which readers of this one may not see.
 */
export async function unmergedNeeds(
  source: EntityManager,
  { id, repositoryId }: Pick<Issue, 'id' | 'repositoryId'>,
): Promise<(number | null)[]> {
  return (await neededBy(source, id))
    .filter(({ state }) => state !== 'MERGED')
    .map((needed) => (needed.repositoryId === repositoryId ? needed.number : null));
}
