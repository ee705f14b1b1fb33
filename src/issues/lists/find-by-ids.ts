import { idsIn } from '../../db/index.ts';
import type { IssueDeps } from '../deps.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';

/**
 * Issues by their UUIDs, for modules that have asked for the right already; in no order, without those that are gone.
 */
export function findByIds({ db }: Pick<IssueDeps, 'db'>, ids: readonly string[]): Promise<Issue[]> {
  return db.read
    .createQueryBuilder(issueSchema, 'i')
    .where(...idsIn('i.id', ids))
    .getMany();
}
