import { isNotNull } from '../../db/index.ts';
import { In, IsNull, LessThan, MoreThan, Not } from 'typeorm';
import { artifactFileSchema, artifactSchema } from '../schema/artifact-schema.ts';
import type { CiDeps } from '../deps.ts';
import { jobSchema } from '../schema/job-schema.ts';
import { shorterLogs } from './repository-retention.ts';
import { isRunning } from '../run-status.ts';
import { taskSchema } from '../schema/task-schema.ts';

const batchSize = 200;
/** Unfinished uploads are abandoned after one day. */
const abandonedMs = 24 * 3_600_000;

interface RemovedData {
  logs: number;
  artifacts: number;
  /** Files without a row, left behind by a crash or a deleted repository. */
  orphans: number;
}

/**
 * Removes expired logs and artifacts, unfinished uploads, and files of deleted runs. Rows stay as a record. Called
 * every night; idempotent.
 */
export async function removeExpired(deps: CiDeps): Promise<RemovedData> {
  const removed = {
    logs: (await removeOldLogs(deps)) + (await removeShorterLogs(deps)),
    artifacts: await removeOldArtifacts(deps),
    orphans: await removeOrphans(deps),
  };
  await deps.db.write(({ manager }) =>
    manager.query('DELETE FROM ci_workflow_files WHERE NOT EXISTS (SELECT 1 FROM ci_runs WHERE file_hash = hash)'),
  );
  deps.logger.info('ci.old_removed', { ...removed });
  return removed;
}

/** Updates the row first, so that pages never offer an incomplete log. */
async function removeOldLogs({ db, clock, settings, logs }: CiDeps): Promise<number> {
  let count = 0;
  for (;;) {
    const old = await db.read.find(taskSchema, {
      where: {
        sealedAt: isNotNull(),
        stoppedAt: LessThan(clock.now() - settings.logTtlMs),
        logRemovedAt: IsNull(),
      },
      select: { id: true },
      take: batchSize,
    });
    if (old.length === 0) return count;
    const ids = old.map(({ id }) => id);
    await db.write(({ manager, now }) => manager.update(taskSchema, { id: In(ids) }, { logRemovedAt: now }));
    for (const id of ids) await logs.remove(id);
    count += ids.length;
  }
}

/** Logs of repositories with a shorter retention, by their jobs. */
async function removeShorterLogs(deps: CiDeps): Promise<number> {
  const { db, clock, logs } = deps;
  let count = 0;
  for await (const { repositoryId, logDays } of shorterLogs(deps)) {
    const before = clock.now() - (logDays ?? 0) * 24 * 3_600_000;
    for (let after = 0; ; ) {
      const jobs = await db.read.find(jobSchema, {
        where: { repositoryId, id: MoreThan(after) },
        select: { id: true },
        order: { id: 'ASC' },
        take: batchSize,
      });
      const old = await db.read.find(taskSchema, {
        where: {
          jobId: In(jobs.map(({ id }) => id)),
          sealedAt: isNotNull(),
          stoppedAt: LessThan(before),
          logRemovedAt: IsNull(),
        },
        select: { id: true },
      });
      const ids = old.map(({ id }) => id);
      if (ids.length > 0)
        await db.write(({ manager, now }) => manager.update(taskSchema, { id: In(ids) }, { logRemovedAt: now }));
      for (const id of ids) await logs.remove(id);
      count += ids.length;
      if (jobs.length < batchSize) break;
      after = jobs.at(-1)!.id;
    }
  }
  return count;
}

async function removeOldArtifacts({ db, clock, artifacts }: CiDeps): Promise<number> {
  let count = 0;
  for (;;) {
    const now = clock.now();
    const old = await db.read.find(artifactSchema, {
      where: [
        { state: In(['ready', 'uploading']), expiresAt: LessThan(now) },
        { state: 'uploading', createdAt: LessThan(now - abandonedMs) },
      ],
      take: batchSize,
    });
    if (old.length === 0) return count;
    const ids = old.map(({ id }) => id);
    await db.write(async ({ manager }) => {
      await manager.update(artifactSchema, { id: In(ids) }, { state: 'removed' });
      await manager.delete(artifactFileSchema, { artifactId: In(ids) });
    });
    for (const { id, file } of old) {
      await artifacts.uploads.abandon(id);
      await artifacts.remove(file);
    }
    count += ids.length;
  }
}

/** Removes files whose rows were deleted with their run or repository. A row is always created before its file. */
async function removeOrphans({ db, logs, artifacts }: CiDeps): Promise<number> {
  let count = 0;
  for await (const id of logs.ids()) {
    // Also removes files of logs marked as removed: the store was unavailable at that time.
    if (await db.read.existsBy(taskSchema, { id, logRemovedAt: IsNull() })) continue;
    await logs.remove(id);
    count += 1;
  }
  for await (const file of artifacts.files()) {
    if (await db.read.existsBy(artifactSchema, { file, state: Not('removed') })) continue;
    await artifacts.remove(file);
    count += 1;
  }
  for (const id of await artifacts.uploads.ids()) {
    if (await isBeingUploaded({ db }, id)) continue;
    await artifacts.uploads.abandon(id);
    count += 1;
  }
  return count + (await artifacts.sweep());
}

/** Whether parts may still arrive, because its task is running. */
async function isBeingUploaded({ db }: Pick<CiDeps, 'db'>, id: number): Promise<boolean> {
  const artifact = await db.read.findOneBy(artifactSchema, { id, state: 'uploading' });
  const task = artifact === null ? null : await db.read.findOneBy(taskSchema, { id: artifact.taskId });
  const job = task === null ? null : await db.read.findOneBy(jobSchema, { id: task.jobId });
  return job !== null && task !== null && isRunning(task.status);
}
