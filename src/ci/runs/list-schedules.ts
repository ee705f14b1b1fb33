import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { scheduleSchema } from '../schema/schedule-schema.ts';
import { zoneOf } from '../workflows/cron.ts';
import { disabledWorkflows, runsWorkflows } from '../settings/repository-settings.ts';

/** A run that the clock will start. */
export interface PlannedRun {
  /** Path of the workflow file below the folder of workflows. */
  workflow: string;
  /** As in the file. */
  cron: string;
  /** IANA name of the zone in which the expression is read: `UTC`, `Europe/Berlin`. */
  timeZone: string;
  /** Epoch milliseconds. */
  at: number;
}

/** Limit of a list; a file has at most twenty schedules. */
const maxPlanned = 200;

/**
 * The next run of each schedule of a repository, the nearest first. Left out is what will start nothing: workflows that
 * are switched off, and all of an archived repository or one that runs no workflows.
 * @param known paths of the workflows that are switched off; they are read if it is left out
 */
export async function plannedRuns(
  deps: Pick<CiDeps, 'db' | 'settings'>,
  { repository }: Pick<Found, 'repository'>,
  known?: ReadonlySet<string>,
): Promise<PlannedRun[]> {
  const { id: repositoryId, archivedAt } = repository;
  if (archivedAt !== null || !(await runsWorkflows(deps, repositoryId))) return [];
  const disabled = known ?? (await disabledWorkflows(deps, repositoryId));
  const order = { nextAt: 'ASC', workflowPath: 'ASC', cron: 'ASC', timeZone: 'ASC' } as const;
  const rows = await deps.db.read.find(scheduleSchema, { where: { repositoryId }, order, take: maxPlanned });
  return rows
    .filter(({ workflowPath }) => !disabled.has(workflowPath))
    .map(({ workflowPath, cron, timeZone, nextAt }) => ({
      workflow: workflowPath,
      cron,
      timeZone: zoneOf({ cron, timeZone: timeZone || null }),
      at: nextAt,
    }));
}
