import { In } from 'typeorm';
import type { PullDeps } from '../deps.ts';
import { pullSchema } from '../schema/pull-schema.ts';

/**
 * Those of some branches of a repository that have an open pull request into another. No access check: the caller can
 * read both.
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
