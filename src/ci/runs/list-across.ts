import { In } from 'typeorm';
import { visibleRepositories } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { selectRaw } from '../../db/index.ts';
import type { CiDeps } from '../deps.ts';
import type { CiScope } from '../scope.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import type { RunStatus } from '../run-status.ts';
import { maxCountedRuns } from './list-runs.ts';
import type { RunFilter } from './list-runs.ts';

/** All repositories of an owner, or of the server. */
export type OwnerScope = Exclude<CiScope, { kind: 'repository' }>;

/** Filters of lists across repositories; all optional. */
type AcrossFilter = Pick<RunFilter, 'event' | 'ref' | 'actorId' | 'statuses' | 'sha'>;

interface Page {
  limit: number;
  skip: number;
}

/**
 * Returns the runs in all repositories of an owner or of the server that the viewer can read, newest first, and their
 * number up to `maxCountedRuns`.
 */
export async function runsAcross(
  { db }: Pick<CiDeps, 'db'>,
  viewer: Viewer,
  scope: OwnerScope,
  filter: AcrossFilter,
  page: Page,
): Promise<{ runs: RunRow[]; total: number }> {
  const { ids, total } = await idsAcross(db, viewer, scope, 'ci_runs', conditionsOf(filter), page);
  const runs = ids.length === 0 ? [] : await db.read.findBy(runSchema, { id: In(ids) });
  return { runs: runs.sort((a, b) => b.id - a.id), total };
}

/** Returns the jobs of these runs in the same way. */
export async function jobsAcross(
  { db }: Pick<CiDeps, 'db'>,
  viewer: Viewer,
  scope: OwnerScope,
  statuses: readonly RunStatus[] | undefined,
  page: Page,
): Promise<{ jobs: { job: JobRow; run: RunRow }[]; total: number }> {
  const { ids, total } = await idsAcross(db, viewer, scope, 'ci_jobs', conditionsOf({ statuses }), page);
  if (ids.length === 0) return { jobs: [], total };
  const jobs = await db.read.findBy(jobSchema, { id: In(ids) });
  const runs = await db.read.findBy(runSchema, { id: In([...new Set(jobs.map(({ runId }) => runId))]) });
  const runOf = new Map(runs.map((run) => [run.id, run]));
  return {
    jobs: jobs.sort((a, b) => b.id - a.id).map((job) => ({ job, run: runOf.get(job.runId)! })),
    total,
  };
}

interface Conditions {
  sql: string[];
  parameters: Record<string, unknown>;
}

function conditionsOf({ event, ref, actorId, statuses, sha }: AcrossFilter): Conditions {
  const conditions = [
    event === undefined ? null : { sql: 'x.event = :event', parameters: { event } },
    // The expressions keep the database from using indexes of these columns: only those of the owner and of the list
    // order are fast.
    ref === undefined ? null : { sql: "(x.ref || '') = :ref", parameters: { ref } },
    actorId === undefined ? null : { sql: "(x.actor_id || '') = :actorId", parameters: { actorId } },
    sha === undefined ? null : { sql: 'x.sha = :sha', parameters: { sha } },
    statuses === undefined ? null : { sql: "(x.status || '') IN (:...statuses)", parameters: { statuses } },
  ].filter((each) => each !== null);
  return {
    sql: conditions.map(({ sql }) => sql),
    parameters: Object.assign({}, ...conditions.map(({ parameters }) => parameters)) as Record<string, unknown>,
  };
}

/** For the whole server, examines only the newest runs: most of them may be hidden from the viewer. */
const mostExamined = 20_000;

/**
 * For an owner, reads from each repository only as many rows as the page needs, from an index in list order. For the
 * server, reads at most `mostExamined` rows in table order.
 */
async function idsAcross(
  db: CiDeps['db'],
  viewer: Viewer,
  scope: OwnerScope,
  table: 'ci_runs' | 'ci_jobs',
  { sql: conditions, parameters }: Conditions,
  { limit, skip }: Page,
): Promise<{ ids: number[]; total: number }> {
  const visible = visibleRepositories(viewer, 'p');
  const wanted = conditions.map((condition) => ` AND ${condition}`).join('');
  const values = { ...visible.parameters, ...parameters, ...(scope.kind !== 'instance' && { ownerId: scope.id }) };
  const owned =
    scope.kind === 'instance'
      ? visible.sql
      : `p.${scope.kind === 'user' ? 'owner_user_id' : 'owner_org_id'} = :ownerId AND ${visible.sql}`;
  const among = `x.id > (SELECT max(id) FROM ${table}) - ${mostExamined}
    AND EXISTS (SELECT 1 FROM repositories p WHERE p.id = x.repository_id AND ${owned})`;
  const inOrder = { ci_runs: 'x.number', ci_jobs: 'x.id' }[table];
  const sql =
    scope.kind === 'instance'
      ? `SELECT x.id AS id FROM ${table} x WHERE ${among}${wanted} ORDER BY x.id DESC LIMIT :limit OFFSET :skip`
      : `SELECT y.id AS id FROM (SELECT p.id AS id FROM repositories p WHERE ${owned}) own CROSS JOIN ${table} y
          WHERE y.id IN (SELECT x.id FROM ${table} x WHERE x.repository_id = own.id${wanted}
            ORDER BY ${inOrder} DESC LIMIT :most)
          ORDER BY y.id DESC LIMIT :limit OFFSET :skip`;
  const rows = await selectRaw<{ id: number }>(db.read, sql, { ...values, limit, skip, most: skip + limit });
  const all =
    scope.kind === 'instance'
      ? `SELECT x.id AS id FROM ${table} x WHERE ${among}${wanted}`
      : `SELECT x.id AS id FROM repositories p CROSS JOIN ${table} x WHERE x.repository_id = p.id AND ${owned}${wanted}`;
  const [counted] = await selectRaw<{ total: number }>(
    db.read,
    `SELECT count(*) AS total FROM (${all} LIMIT :counted) counted`,
    { ...values, counted: maxCountedRuns },
  );
  return { ids: rows.map(({ id }) => Number(id)), total: Number(counted!.total) };
}
