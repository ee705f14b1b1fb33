import { visibleIssues } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { idsIn, selectRows } from '../../db/index.ts';
import type { IssueDeps } from '../deps.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';

/** Issues by their UUIDs, unordered, for modules that have checked access; omits deleted ones. */
export async function findByIds({ db }: Pick<IssueDeps, 'db'>, ids: readonly string[]): Promise<Issue[]> {
  if (ids.length === 0) return [];
  const [among, parameters] = idsIn('i.id', ids);
  return selectRows(db.read, issueSchema, `SELECT i.* FROM issues i WHERE ${among}`, parameters);
}

/** Those of some issues that the viewer can read, unordered. */
export async function findReadable(
  { db }: Pick<IssueDeps, 'db'>,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Issue[]> {
  if (ids.length === 0) return [];
  const [among, parameters] = idsIn('i.id', ids);
  const visible = visibleIssues(viewer, 'r', 'i');
  return selectRows(
    db.read,
    issueSchema,
    `SELECT i.* FROM issues i JOIN repositories r ON r.id = i.repository_id WHERE ${among} AND ${visible.sql}`,
    { ...parameters, ...visible.parameters },
  );
}
