import type { EntityManager } from 'typeorm';
import type { Issue } from '../../issues/index.ts';
import { pullPushSchema } from '../schema/pull-schema.ts';

/** The name of the listener that records what a push makes of pull requests. */
export const listenerName = 'pulls';

/**
 * Whether a push to this pull request was taken that is not recorded as a round yet.
 * @param withParked counts one, too, that is recorded only once a person retries it
 */
export function hasPendingPush(
  source: EntityManager,
  { repositoryId, number }: Pick<Issue, 'repositoryId' | 'number'>,
  { withParked = false }: { withParked?: boolean } = {},
): Promise<boolean> {
  const query = source
    .createQueryBuilder(pullPushSchema, 'f')
    .innerJoin('pushes', 'p', 'p.id = f.push_id')
    .where('f.repository_id = :repositoryId AND f.number = :number', { repositoryId, number })
    .andWhere('p.announced_at IS NULL')
    .andWhere('NOT EXISTS (SELECT 1 FROM push_announcements a WHERE a.push_id = p.id AND a.listener = :listener)', {
      listener: listenerName,
    });
  if (!withParked) query.andWhere('p.parked_at IS NULL');
  return query.getExists();
}
