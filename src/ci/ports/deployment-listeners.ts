import type { Tx } from '../../db/index.ts';
import type { DeploymentRow, DeploymentStatusRow } from '../schema/deployment-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';

/** A change of a deployment, announced inside the write. `status` is null when the deployment is created. */
interface DeploymentEvent {
  deployment: DeploymentRow;
  status: DeploymentStatusRow | null;
  run: RunRow | null;
  /** The user who caused it; null for a job. */
  actorId: string | null;
}

export type DeploymentListener = (tx: Tx, event: DeploymentEvent) => Promise<void>;

/** A run starts or stops waiting for the reviewers of an environment. */
interface ReviewEvent {
  /** `asked`: a job waits for a reviewer; `settled`: no job of the run waits for one any more. */
  kind: 'asked' | 'settled';
  run: RunRow;
  /** Name of the environment as the workflow spells it. */
  environment: string;
}

/** Called inside the write. */
export type ReviewListener = (tx: Tx, event: ReviewEvent) => Promise<void>;
