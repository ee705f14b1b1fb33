import { IsNull, LessThanOrEqual } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { nextTime, parseCron } from '../workflows/cron.ts';
import { enabledWorkflows } from '../settings/repository-settings.ts';
import { findWorkflows } from '../workflows/find-workflows.ts';
import { withCalledFiles } from '../workflows/read-called-files.ts';
import { sourceOf } from '../workflows/workflow-reader.ts';
import { changeRuns } from './change-runs.ts';
import { deletedUserName } from '../load-run.ts';
import { repositoryPayload } from './push-event.ts';
import type { MovedRef } from './push-event.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { scheduleSchema } from '../schema/schedule-schema.ts';
import type { ScheduleRow } from '../schema/schedule-schema.ts';
import { startRun } from './start-run.ts';

/** Schedules to be saved after a push to the default branch. */
export interface PlannedSchedules {
  repositoryId: string;
  rows: ScheduleRow[];
}

const batch = 100;

/** The schedules of the default branch after a push; null if it has not moved, or had no schedules and has none. */
export async function planSchedules(
  deps: CiDeps,
  { repository, path }: Located,
  actorId: string | null,
  moved: readonly MovedRef[],
): Promise<PlannedSchedules | null> {
  const update = moved.find(({ ref }) => ref === `refs/heads/${repository.defaultBranch}`);
  if (update === undefined) return null;
  const rows: ScheduleRow[] = [];
  for (const file of await findWorkflows(deps.git, path, update.newId)) {
    const parsed = await deps.workflows.read(sourceOf(file, repository.id));
    const schedules = parsed.ok ? parsed.workflow.triggers.schedule : [];
    const byKey = new Map(schedules.map((each) => [`${each.cron} ${each.timeZone}`, each]));
    for (const { cron, timeZone } of byKey.values()) {
      const nextAt = nextTime(parseCron(cron, timeZone)!, deps.clock.now());
      if (nextAt === null) continue;
      const { id: repositoryId } = repository;
      const { path: workflowPath } = file;
      rows.push({ repositoryId, workflowPath, cron, timeZone: timeZone ?? '', sha: update.newId, actorId, nextAt });
    }
  }
  const isChange = rows.length > 0 || (await deps.db.read.existsBy(scheduleSchema, { repositoryId: repository.id }));
  return isChange ? { repositoryId: repository.id, rows } : null;
}

/**
 * Reads the schedules of a repository after a change of its default branch. Logs a failure, because the next push to
 * the branch also reads them.
 * @param actorId the user who changed the branch
 */
export async function replanSchedules(deps: CiDeps, repositoryId: string, actorId: string | null): Promise<void> {
  try {
    const located = (await deps.repositories.locate([repositoryId])).get(repositoryId);
    if (located === undefined) return;
    const ref = `refs/heads/${located.repository.defaultBranch}`;
    const tip = await deps.git.refs.tip(located.path, ref);
    if (tip === null) return;
    const planned = await planSchedules(deps, located, actorId, [{ ref, oldId: tip, newId: tip }]);
    if (planned !== null) await deps.db.write((tx) => saveSchedules(tx, planned));
  } catch (error) {
    deps.logger.error('ci.schedules_not_read', { repositoryId, error });
  }
}

/** Replaces the schedules of a repository. */
export async function saveSchedules({ manager }: Tx, { repositoryId, rows }: PlannedSchedules): Promise<void> {
  await manager.delete(scheduleSchema, { repositoryId });
  for (const row of rows) await manager.insert(scheduleSchema, row);
}

/**
 * Starts scheduled workflows that are due. The next time is written first, so that a workflow that crashes the server
 * does not do so at every start. A failing workflow does not block the others. Schedules missed while the server was
 * down run once.
 */
export async function runSchedules(deps: CiDeps): Promise<void> {
  const now = deps.clock.now();
  const due = await deps.db.read.find(scheduleSchema, {
    where: { nextAt: LessThanOrEqual(now) },
    order: { nextAt: 'ASC' },
    take: batch,
  });
  for (const row of due) {
    const { repositoryId, workflowPath, cron, timeZone } = row;
    const key = { repositoryId, workflowPath, cron, timeZone };
    const nextAt = nextTime(parseCron(cron, timeZone || null)!, now);
    await deps.db.write(async ({ manager }) => {
      if (nextAt === null) await manager.delete(scheduleSchema, key);
      else await manager.update(scheduleSchema, key, { nextAt });
    });
    await runSchedule(deps, row).catch((error: unknown) => {
      if (isDomainError(error) && error.code === 'not_found') return;
      deps.logger.error('ci.schedule_failed', { repository: repositoryId, workflow: workflowPath, error });
    });
  }
}

async function runSchedule(deps: CiDeps, row: ScheduleRow): Promise<void> {
  const { repositoryId, workflowPath, cron, actorId } = row;
  const located = (await deps.repositories.locate([repositoryId])).get(repositoryId);
  if (located === undefined || located.repository.archivedAt !== null) return;
  const ref = `refs/heads/${located.repository.defaultBranch}`;
  const sha = await deps.git.refs.resolve(located.path, ref);
  const files = await enabledWorkflows(deps, { repositoryId, path: located.path }, sha);
  const file = files.find(({ path }) => path === workflowPath);
  if (file === undefined) return;
  const people = actorId === null ? null : await deps.accounts.peopleById([actorId]);
  const actor = (actorId === null ? null : people?.get(actorId)?.username) ?? deletedUserName;
  const own = await deps.workflows.read(sourceOf(file, repositoryId));
  const { content, parsed } = await withCalledFiles(deps, { ...file, parsed: own }, { actorId, client: repositoryId });
  const isProtected = await deps.repositories.rules.protectedRefs(located.repository);
  await changeRuns(deps, async (tx, after) => {
    const waiting = await waitingRun(tx, { repositoryId, workflowPath, ref }, row);
    if (waiting !== null) {
      deps.logger.info('ci.schedule_passed_over', {
        repository: repositoryId,
        workflow: workflowPath,
        cron,
        waiting: waiting.number,
      });
      return;
    }
    await startRun(
      deps,
      tx,
      after,
      { repository: located.repository, owner: located.owner, actor, isProtected },
      {
        workflowPath,
        workflowFolder: file.folder,
        content,
        parsed,
        event: 'schedule',
        eventPayload: {
          schedule: cron,
          ...(row.timeZone !== '' && { timezone: row.timeZone }),
          repository: repositoryPayload(located, deps.settings.baseUrl),
        },
        ref,
        sha,
        isTrusted: true,
        approval: null,
        actorId,
        // The title is not the subject of the last commit.
        title: parsed.ok ? parsed.workflow.name : parsed.name,
      },
    );
  });
}

/**
 * The run of a schedule that no runner has started yet. While it exists, no further run is created: without runners,
 * runs would accumulate and all start at once later.
 */
async function waitingRun(
  { manager }: Tx,
  of: Pick<RunRow, 'repositoryId' | 'workflowPath' | 'ref'>,
  { cron, timeZone }: Pick<ScheduleRow, 'cron' | 'timeZone'>,
): Promise<RunRow | null> {
  const where = { ...of, event: 'schedule' as const, startedAt: IsNull(), finishedAt: IsNull() };
  // A file has a few schedules, and each has at most one waiting run.
  const runs = await manager.findBy(runSchema, where);
  const isOf = ({ eventPayload: { schedule, timezone = '' } }: RunRow) => schedule === cron && timezone === timeZone;
  return runs.find(isOf) ?? null;
}
