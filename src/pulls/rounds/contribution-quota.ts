import type { EntityManager } from 'typeorm';
import { invalid, isDomainError } from '../../kernel/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { writersAmong } from '../find-pull.ts';
import { roundSchema } from '../schema/round-schema.ts';

type BudgetDeps = Pick<PullDeps, 'db' | 'contributedBytes'>;

/** A round that is not recorded yet. */
interface PendingRound {
  submitterId: string | null;
  headOid: string;
  /** The tip of the base branch, and the head of the previous round. */
  known: readonly string[];
  /** The folder of the repository with the head, unless it is that of the pull request. */
  from?: string;
}

/**
 * Size in bytes that a round takes in the repository of its pull request: the objects that neither the base branch nor
 * the previous round has. 0 for users with write access, who have no limit. If git cannot count in time, the whole
 * limit of one push counts. Throws `git_busy`.
 */
export async function contributedBytes(
  deps: Pick<PullDeps, 'git' | 'logger' | 'repositories' | 'contributedPushBytes'>,
  { repository, path }: Pick<Located, 'repository' | 'path'>,
  { submitterId, headOid, known, from = path }: PendingRound,
): Promise<number> {
  if (submitterId === null) return 0;
  if ((await writersAmong(deps, repository, [submitterId])).has(submitterId)) return 0;
  try {
    const beside = from === path ? {} : { beside: path };
    return await deps.git.objects.bytesOfNew(from, { oid: headOid, known, ...beside });
  } catch (error) {
    if (!isDomainError(error) || error.code !== 'internal') throw error;
    deps.logger.info('pull.round_not_measured', { repositoryId: repository.id, headOid, error });
    return deps.contributedPushBytes ?? 0;
  }
}

/**
 * Bytes that a user without write access may still contribute to pull requests of a repository. Rounds of merged pull
 * requests do not count, because the project has accepted them; nor do deleted ones.
 */
export async function contributedBytesLeft(
  { contributedBytes: budget }: Pick<PullDeps, 'contributedBytes'>,
  source: EntityManager,
  repositoryId: string,
  userId: string,
): Promise<number> {
  if (budget === undefined) return Number.MAX_SAFE_INTEGER;
  const sum: { bytes: number | string | null } | undefined = await source
    .createQueryBuilder(roundSchema, 'r')
    .select('sum(r.bytes)', 'bytes')
    .innerJoin('pulls', 'p', 'p.issue_id = r.issue_id')
    .where('r.submitter_id = :userId AND r.bytes > 0', { userId })
    .andWhere('p.repository_id = :repositoryId AND p.merged_at IS NULL', { repositoryId })
    .getRawOne();
  return Math.max(0, budget - Number(sum?.bytes ?? 0));
}

/** Whether a round of this size exceeds the remaining quota. */
export async function isOverBudget(
  deps: BudgetDeps,
  repositoryId: string,
  submitterId: string | null,
  bytes: number,
): Promise<boolean> {
  if (submitterId === null || bytes === 0) return false;
  return bytes > (await contributedBytesLeft(deps, deps.db.read, repositoryId, submitterId));
}

/** Error for users whose rounds exceed their quota. */
export const contributedTooMuch = ({ contributedBytes: budget = 0 }: Pick<PullDeps, 'contributedBytes'>) =>
  invalid(
    'contributed_too_much',
    `Your pull requests in this repository have reached the limit of ${Math.floor(budget / 1024 ** 2)} MiB. Ask a maintainer to delete old ones.`,
  );
