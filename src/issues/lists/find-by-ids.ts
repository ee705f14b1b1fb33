import { idsIn, selectRows } from '../../db/index.ts';
import type { IssueDeps } from '../deps.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';

/** Issues by their UUIDs in no order, for modules that have asked for the right; without those that are gone. */
export async function findByIds({ db }: Pick<IssueDeps, 'db'>, ids: readonly string[]): Promise<Issue[]> {
  if (ids.length === 0) return [];
  const [among, parameters] = idsIn('i.id', ids);
  return selectRows(db.read, issueSchema, `SELECT i.* FROM issues i WHERE ${among}`, parameters);
}
