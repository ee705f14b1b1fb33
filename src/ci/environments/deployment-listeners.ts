import type { Tx } from '../../db/index.ts';
import type { DeploymentRow, DeploymentStatusRow } from '../schema/deployment-schema.ts';
import type { EnvironmentRow } from '../schema/environment-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';

/** What happened to a deployment; told inside the write. `status` is null when it was made. */
export interface DeploymentEvent {
  deployment: DeploymentRow;
  status: DeploymentStatusRow | null;
  run: RunRow | null;
  /** Who did it; null for a job. */
  actorId: string | null;
}

export type DeploymentListener = (tx: Tx, event: DeploymentEvent) => Promise<void>;

/** Told inside the write that lets a job wait for a reviewer. */
export type ReviewListener = (
  tx: Tx,
  request: { run: RunRow; job: JobRow; environment: EnvironmentRow },
) => Promise<void>;
