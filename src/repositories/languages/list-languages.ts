import { visibleRepositories } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { inList } from '../../db/index.ts';
import type { RepositoryDeps } from '../deps.ts';

/** Listed languages by repository id, the main one first. */
export async function languagesOf(
  { db }: Pick<RepositoryDeps, 'db'>,
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  if (ids.length === 0) return found;
  const rows: { id: string; language: string }[] = await db.read.query(
    `SELECT repository_id AS id, language FROM repository_languages WHERE ${inList('repository_id')} ORDER BY repository_id, position`,
    [JSON.stringify(ids)],
  );
  for (const { id, language } of rows) found.set(id, [...(found.get(id) ?? []), language]);
  return found;
}

/** Loose index scan over names, independent of the number of rows. */
const everyName = `
  WITH RECURSIVE names (name) AS (
    SELECT min(language) FROM repository_languages
    UNION ALL
    SELECT (SELECT min(language) FROM repository_languages WHERE language > names.name) FROM names WHERE names.name IS NOT NULL
  ) SELECT name FROM names WHERE name IS NOT NULL`;

/**
 * Languages of all repositories that the viewer can see, sorted. Searches each language until the first visible
 * repository: hidden ones do not add names or change the response.
 */
export async function listLanguages({ db }: RepositoryDeps, viewer: Viewer): Promise<string[]> {
  const visible = visibleRepositories(viewer, 'r');
  const rows = await db.read
    .createQueryBuilder()
    .select('n.name', 'name')
    .from(`(${everyName})`, 'n')
    .where(
      `EXISTS (SELECT 1 FROM repository_languages l JOIN repositories r ON r.id = l.repository_id
        WHERE l.language = n.name AND r.deleted_at IS NULL AND (${visible.sql}))`,
      visible.parameters,
    )
    .orderBy('n.name')
    .getRawMany<{ name: string }>();
  return rows.map(({ name }) => name);
}
