import { In } from 'typeorm';
import type { PullDeps } from '../deps.ts';
import { pullSchema } from '../schema/pull-schema.ts';

/**
 * Filters branches of a repository to those with an open pull request into another. Does not check access: the caller
 * can read both.
 */
export async function branchesWithOpenPulls(
  { db }: Pick<PullDeps, 'db'>,
  repositoryId: string,
  { headRepositoryId, branches }: { headRepositoryId: string; branches: readonly string[] },
): Promise<Set<string>> {
  if (branches.length === 0) return new Set();
  const rows = await db.read.find(pullSchema, {
    select: { issueId: true, headBranch: true },
    where: { headRepositoryId, headBranch: In([...branches]), isOpen: true, repositoryId },
  });
  return new Set(rows.flatMap(({ headBranch }) => headBranch ?? []));
}
