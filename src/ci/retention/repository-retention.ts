import { MoreThan } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { requireLevel } from '../require-level.ts';
import { retentionSchema } from '../schema/retention-schema.ts';
import type { RetentionRow } from '../schema/retention-schema.ts';

/** Retention of artifacts and logs of a repository, in days. */
export interface Retention {
  /** The repository's own setting; null for the setting of the server. */
  artifactDays: number | null;
  logDays: number | null;
  /** The settings of the server, at least one day; a repository can only shorten them. */
  maxArtifactDays: number;
  maxLogDays: number;
}

const dayMs = 86_400_000;

/** The retention of a repository. No access check. */
export async function retentionOf(
  { db, settings }: Pick<CiDeps, 'db' | 'settings'>,
  repositoryId: string,
): Promise<Retention> {
  const row = await db.read.findOneBy(retentionSchema, { repositoryId });
  return {
    artifactDays: row?.artifactDays ?? null,
    logDays: row?.logDays ?? null,
    maxArtifactDays: Math.max(1, Math.floor(settings.artifactTtlMs / dayMs)),
    maxLogDays: Math.max(1, Math.floor(settings.logTtlMs / dayMs)),
  };
}

/** Retention of a new artifact of a repository in milliseconds; read inside the write that creates it. */
export async function artifactTtlMs(
  { settings }: Pick<CiDeps, 'settings'>,
  manager: EntityManager,
  repositoryId: string,
): Promise<number> {
  const row = await manager.findOneBy(retentionSchema, { repositoryId });
  return Math.min(settings.artifactTtlMs, (row?.artifactDays ?? Infinity) * dayMs);
}

const batchSize = 200;

/** Repositories that keep logs for a shorter time than the server. */
export async function* shorterLogs({ db }: Pick<CiDeps, 'db'>): AsyncGenerator<RetentionRow> {
  for (let after = ''; ; ) {
    const rows = await db.read.find(retentionSchema, {
      where: { repositoryId: MoreThan(after) },
      order: { repositoryId: 'ASC' },
      take: batchSize,
    });
    yield* rows.filter(({ logDays }) => logDays !== null);
    if (rows.length < batchSize) return;
    after = rows.at(-1)!.repositoryId;
  }
}

/**
 * Changes the retention of artifacts and logs of a repository; omitted values stay, null selects the setting of the
 * server. It applies to new artifacts; the next nightly task removes older logs. Throws `repository_not_found` unless
 * the viewer administers the repository, `invalid_retention`.
 */
export async function setRetention(
  deps: CiDeps,
  viewer: Viewer,
  found: Found,
  change: Partial<Pick<Retention, 'artifactDays' | 'logDays'>>,
): Promise<Retention> {
  requireLevel(found, 'admin');
  const repositoryId = found.repository.id;
  const before = await retentionOf(deps, repositoryId);
  const { artifactDays = before.artifactDays, logDays = before.logDays } = change;
  refuseOutside('artifact_days', artifactDays, before.maxArtifactDays);
  refuseOutside('log_days', logDays, before.maxLogDays);
  await deps.db.write(({ manager }) =>
    manager.upsert(retentionSchema, { repositoryId, artifactDays, logDays }, ['repositoryId']),
  );
  deps.logger.info('ci.retention_changed', {
    repository: repositoryId,
    artifactDays,
    logDays,
    by: viewerForLog(viewer),
  });
  return { ...before, artifactDays, logDays };
}

function refuseOutside(field: string, days: number | null, max: number): void {
  if (days === null || (Number.isInteger(days) && days >= 1 && days <= max)) return;
  throw invalid(
    'invalid_retention',
    `Enter a number of days from 1 to ${max}, or none to use the server default of ${max}.`,
    {
      field,
    },
  );
}
