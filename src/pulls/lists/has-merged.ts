import { isNotNull } from '../../db/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullSchema } from '../schema/pull-schema.ts';

/** Whether a pull request that a person submitted was merged into a repository. */
export function hasMerged({ db }: Pick<PullDeps, 'db'>, repositoryId: string, submitterId: string): Promise<boolean> {
  return db.read.existsBy(pullSchema, { repositoryId, submitterId, mergedAt: isNotNull() });
}
