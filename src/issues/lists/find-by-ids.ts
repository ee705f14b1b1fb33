import { idsIn } from '../../db/index.ts';
import type { IssueDeps } from '../deps.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';

/** Issues by their UUIDs in no order, for modules that have asked for the right; without those that are gone. */
export function findByIds({ db }: Pick<IssueDeps, 'db'>, ids: readonly string[]): Promise<Issue[]> {
  return db.read
    .createQueryBuilder(issueSchema, 'i')
    .where(...idsIn('i.id', ids))
    .getMany();
}
