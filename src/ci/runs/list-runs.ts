import { In } from 'typeorm';
import type { SelectQueryBuilder } from 'typeorm';
import { idsIn, selectRaw } from '../../db/index.ts';
import type { Found, Repository } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import type { RunStatus } from '../run-status.ts';

/** Filters of a list of runs; all optional. */
export interface RunFilter {
  workflow?: string | undefined;
  status?: string | undefined;
  event?: string | undefined;
  /** Full name of the ref. */
  ref?: string | undefined;
  actorId?: string | undefined;
  /** Any of these statuses; combined with `status`. */
  statuses?: readonly RunStatus[] | undefined;
  sha?: string | undefined;
}

interface RunPage {
  runs: RunRow[];
  /** Value of `before` for the next page; null on the last page. */
  next: number | null;
}

const statusGroups: Record<string, readonly string[]> = {
  active: ['blocked', 'waiting', 'running', 'cancelling'],
  success: ['success'],
  failure: ['failure'],
  cancelled: ['cancelled'],
  skipped: ['skipped'],
};

/** Accepted values of `RunFilter.status`; others are ignored. */
export const runStatusGroups = Object.keys(statusGroups);

/** The runs of a repository, newest first. Pages are keyed by number, so they never overlap. */
export async function listRuns(
  { db }: Pick<CiDeps, 'db'>,
  found: Pick<Found, 'repository'>,
  filter: RunFilter,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<RunPage> {
  const query = filtered(db, found, filter)
    .orderBy('r.number', 'DESC')
    .limit(limit + 1);
  if (before !== undefined) query.andWhere('r.number < :before', { before });
  const rows = await rowsOf(db, query);
  const runs = rows.slice(0, limit);
  return { runs, next: rows.length > limit ? runs.at(-1)!.number : null };
}

/** Limit of counting: a repository may have a hundred thousand runs. */
export const maxCountedRuns = 10_000;

/** Returns one page of the runs of a repository, newest first, and their number up to `maxCountedRuns`. */
export async function pageOfRuns(
  { db }: Pick<CiDeps, 'db'>,
  found: Pick<Found, 'repository'>,
  filter: RunFilter,
  { limit, skip }: { limit: number; skip: number },
): Promise<{ runs: RunRow[]; total: number }> {
  const query = filtered(db, found, filter).orderBy('r.number', 'DESC').offset(skip).limit(limit);
  const counted = filtered(db, found, filter).limit(maxCountedRuns);
  return { runs: await rowsOf(db, query), total: (await counted.getRawMany()).length };
}

/** Filters by an index alone; the rows of the page are read afterwards. */
function filtered(db: CiDeps['db'], found: Pick<Found, 'repository'>, filter: RunFilter): SelectQueryBuilder<RunRow> {
  const query = db.read
    .createQueryBuilder(runSchema, 'r')
    .select('r.id', 'id')
    .where('r.repository_id = :repositoryId', { repositoryId: found.repository.id });
  if (filter.workflow) query.andWhere('r.workflow_path = :workflow', { workflow: filter.workflow });
  if (filter.event) query.andWhere('r.event = :event', { event: filter.event });
  // Avoids the index of refs, which is not in list order.
  if (filter.ref) query.andWhere("(r.ref || '') = :ref", { ref: filter.ref });
  if (filter.actorId) query.andWhere('r.actor_id = :actorId', { actorId: filter.actorId });
  const statuses = Object.hasOwn(statusGroups, filter.status ?? '') ? statusGroups[filter.status!] : undefined;
  if (statuses !== undefined) query.andWhere('r.status IN (:...statuses)', { statuses });
  if (filter.statuses !== undefined) query.andWhere('r.status IN (:...among)', { among: filter.statuses });
  if (filter.sha) query.andWhere('r.sha = :sha', { sha: filter.sha });
  return query;
}

async function rowsOf(db: CiDeps['db'], query: SelectQueryBuilder<RunRow>): Promise<RunRow[]> {
  const ids = (await query.getRawMany<{ id: number }>()).map(({ id }) => id);
  const rows = ids.length === 0 ? [] : await db.read.findBy(runSchema, { id: In(ids) });
  return rows.sort((a, b) => b.number - a.number);
}

/** The workflows with runs in a repository, by path, with the name in their newest run. */
export async function workflowsOf(
  { db }: Pick<CiDeps, 'db'>,
  found: Pick<Found, 'repository'>,
): Promise<{ path: string; name: string }[]> {
  const rows: { path: string; name: string }[] = await db.read.query(everyWorkflow, [
    found.repository.id,
    found.repository.id,
    found.repository.id,
  ]);
  return rows.map(({ path, name }) => ({ path, name }));
}

/** Loose index scan from path to path; its cost is independent of the number of runs. */
const everyWorkflow = `
  WITH RECURSIVE workflows (path) AS (
    SELECT min(workflow_path) FROM ci_runs WHERE repository_id = ?
    UNION ALL
    SELECT (SELECT min(workflow_path) FROM ci_runs WHERE repository_id = ? AND workflow_path > workflows.path)
    FROM workflows WHERE workflows.path IS NOT NULL
  )
  SELECT w.path AS path, (SELECT r.workflow_name FROM ci_runs r WHERE r.repository_id = ? AND r.workflow_path = w.path
    ORDER BY r.number DESC LIMIT 1) AS name
  FROM workflows w WHERE w.path IS NOT NULL LIMIT 100`;

/** The commit of the newest run on the default branch of each repository, by repository id, in one query. */
export async function newestChecked(
  { db }: Pick<CiDeps, 'db'>,
  repositories: readonly Pick<Repository, 'id'>[],
): Promise<Map<string, string>> {
  if (repositories.length === 0) return new Map();
  const [among, parameters] = idsIn(
    'p.id',
    repositories.map(({ id }) => id),
  );
  // Finds the newest of each through the index, independent of the number of runs.
  const rows = await selectRaw<{ repositoryId: string; sha: string }>(
    db.read,
    `SELECT r.repository_id AS "repositoryId", r.sha AS sha FROM ci_runs r WHERE r.id IN
       (SELECT (SELECT MAX(x.id) FROM ci_runs x WHERE x.repository_id = p.id AND x.ref = 'refs/heads/' || p.default_branch)
        FROM repositories p WHERE ${among})`,
    parameters,
  );
  return new Map(rows.map(({ repositoryId, sha }) => [repositoryId, sha]));
}

/** The newest run of a workflow on a ref, for badges. */
export function newestRun(
  { db }: Pick<CiDeps, 'db'>,
  repositoryId: string,
  workflowPath: string,
  ref: string,
): Promise<RunRow | null> {
  return db.read.findOne(runSchema, { where: { repositoryId, workflowPath, ref }, order: { number: 'DESC' } });
}
