import { EntitySchema } from 'typeorm';

/** A row of `ci_schedules`: a scheduled workflow of a default branch. */
export interface ScheduleRow {
  repositoryId: string;
  workflowPath: string;
  cron: string;
  /** IANA name; empty for UTC, and where the expression itself has a zone. */
  timeZone: string;
  /** The commit whose workflow was read. */
  sha: string;
  /** UUID of the user who pushed it. */
  actorId: string | null;
  nextAt: number;
}

export const scheduleSchema = new EntitySchema<ScheduleRow>({
  name: 'ciSchedule',
  tableName: 'ci_schedules',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    workflowPath: { name: 'workflow_path', type: 'text', primary: true },
    cron: { type: 'text', primary: true },
    timeZone: { name: 'time_zone', type: 'text', primary: true },
    sha: { type: 'text' },
    actorId: { name: 'actor_id', type: 'text', nullable: true },
    nextAt: { name: 'next_at', type: 'integer' },
  },
});
