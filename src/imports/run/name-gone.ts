import type { RunContext } from '../context/run-context.ts';

const item = 'gone there';
/** Limit of named numbers, and of those in one line of the report. */
const mostNamed = 1_000;
const perLine = 30;

/**
 * Names issues and pull requests that are here and no longer in the lists of the source, before the staged rows are
 * written and deleted. They stay: only a list that was read as a whole says that one is missing.
 */
export async function nameGone(context: RunContext): Promise<void> {
  const { deps, row, progress, tell, renew } = context;
  if (!row.isFull || row.run === 1 || progress.isPartial) return;
  const rows: { number: number; origin: string | null }[] = await deps.db.read.query(
    `SELECT i.number AS number, i.origin AS origin FROM issues i
     WHERE i.repository_id = ? AND i.origin IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM import_staged s WHERE s.import_id = ? AND s.number = i.number AND s.kind IN ('issue', 'pull'))
     ORDER BY i.number LIMIT ?`,
    [row.repositoryId, row.id, mostNamed],
  );
  renew(item);
  const gone = rows.flatMap(({ number, origin }) => (origin === `${row.host}#${number}` ? [`#${number}`] : []));
  for (let at = 0; at < gone.length; at += perLine)
    tell(
      item,
      `the lists of the source no longer have ${gone.slice(at, at + perLine).join(', ')}; nothing is deleted here`,
    );
}
