import type { EntityManager } from 'typeorm';
import { threadSchema } from '../schema/review-schema.ts';

/** Number of published and unresolved threads; ignores threads whose comments were all deleted. */
export function countOpenThreads(source: EntityManager, issueId: string): Promise<number> {
  return source
    .createQueryBuilder(threadSchema, 't')
    .where('t.issue_id = :issueId AND t.resolved_at IS NULL', { issueId })
    .andWhere(
      `EXISTS (SELECT 1 FROM review_comments c JOIN reviews r ON r.id = c.review_id
        WHERE c.thread_id = t.id AND c.deleted_at IS NULL AND r.submitted_at IS NOT NULL)`,
    )
    .getCount();
}
