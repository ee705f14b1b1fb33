import type { EntityManager } from 'typeorm';
import { IsNull } from 'typeorm';
import type { ReviewFacts } from '../../access/index.ts';
import { isNotNull } from '../../db/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { writersAmong } from '../find-pull.ts';
import { reviewSchema } from '../schema/review-schema.ts';

/**
 * Submitted and undismissed reviews of existing accounts, for the merge policy.
 * @param source the read connection, or the reader of the deciding write
 */
export async function reviewFacts(
  deps: Pick<PullDeps, 'repositories'>,
  source: EntityManager,
  issueId: string,
  repository: Repository,
): Promise<ReviewFacts[]> {
  const rows = await source.find(reviewSchema, {
    where: { issueId, submittedAt: isNotNull(), dismissedAt: IsNull() },
    order: { submittedAt: 'ASC' },
  });
  const writers = await writersAmong(
    deps,
    repository,
    rows.flatMap(({ authorId }) => authorId ?? []),
    source,
  );
  return rows.flatMap(({ authorId, round, verdict, submittedAt }) =>
    authorId === null || verdict === null
      ? []
      : [{ authorId, round, verdict, submittedAt: submittedAt!, mayWrite: writers.has(authorId) }],
  );
}
