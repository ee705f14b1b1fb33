import type { PullDeps } from '../deps.ts';
import { pullSchema } from '../schema/pull-schema.ts';

/** Whether a pull request that a person submitted was merged into a repository. */
export function hasMerged({ db }: Pick<PullDeps, 'db'>, repositoryId: string, submitterId: string): Promise<boolean> {
  return db.read
    .createQueryBuilder(pullSchema, 'p')
    .where('p.submitter_id = :submitterId AND p.repository_id = :repositoryId', { submitterId, repositoryId })
    .andWhere('p.merged_at IS NOT NULL')
    .getExists();
}
