import type { Tx } from '../../db/index.ts';
import type { DeploymentRow, DeploymentStatusRow } from '../schema/deployment-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';

/** What happened to a deployment; told inside the write. `status` is null when it was made. */
interface DeploymentEvent {
  deployment: DeploymentRow;
  status: DeploymentStatusRow | null;
  run: RunRow | null;
  /** Who did it; null for a job. */
  actorId: string | null;
}

export type DeploymentListener = (tx: Tx, event: DeploymentEvent) => Promise<void>;

/** A run begins or ends to wait for the reviewers of an environment. */
interface ReviewEvent {
  /** `asked`: a job waits for a reviewer; `settled`: no job of the run waits for one there any more. */
  kind: 'asked' | 'settled';
  run: RunRow;
  /** Name of the environment as it is written there. */
  environment: string;
}

/** Told inside the write. */
export type ReviewListener = (tx: Tx, event: ReviewEvent) => Promise<void>;
