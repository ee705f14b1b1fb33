import type { EntityManager } from 'typeorm';
import type { Issue } from '../../issues/index.ts';
import { pullPushSchema } from '../schema/pull-schema.ts';

/** Whether a push to this pull request was taken that is not recorded as a round yet. */
export function hasPendingPush(
  source: EntityManager,
  { repositoryId, number }: Pick<Issue, 'repositoryId' | 'number'>,
): Promise<boolean> {
  return source
    .createQueryBuilder(pullPushSchema, 'f')
    .innerJoin('pushes', 'p', 'p.id = f.push_id')
    .where('f.repository_id = :repositoryId AND f.number = :number', { repositoryId, number })
    .andWhere('p.announced_at IS NULL AND p.parked_at IS NULL')
    .getExists();
}
