import { EntitySchema } from 'typeorm';
import type { EventName } from '../workflows/workflow.ts';
import type { Json } from '../workflows/json-value.ts';
import type { RunStatus } from '../run-status.ts';

/** A row of `ci_runs`: one execution of a workflow for one commit. */
export interface RunRow {
  id: number;
  repositoryId: string;
  /** From 1 in each repository. */
  number: number;
  /** Path below the workflows folder. */
  workflowPath: string;
  /** The workflows folder from the root: `.hearth/workflows`; empty in rows of earlier versions. */
  workflowFolder: string;
  workflowName: string;
  fileHash: string;
  title: string;
  event: EventName;
  /** The value of `github.event` for expressions and runners. */
  eventPayload: { [key: string]: Json };
  /** Full name: `refs/heads/main`. */
  ref: string;
  sha: string;
  /**
   * False for code of users without write access, and of forks: such a run receives no configured secrets and a
   * read-only token.
   */
  isTrusted: boolean;
  /**
   * Whether a user with write access must approve the run, or has approved it. A run cancelled while it waited stays
   * `waiting`; null if no approval is required.
   */
  approval: 'waiting' | 'approved' | null;
  /** UUID; null once the account is deleted, and for the command line. */
  approvedBy: string | null;
  approvedAt: number | null;
  /** UUID of the user who started it; null once the account is deleted, and for scheduled runs. */
  actorId: string | null;
  /** Title of the deploy key whose push started it, or null. */
  deployKey: string | null;
  attempt: number;
  attemptActorId: string | null;
  status: RunStatus;
  /** Why it failed before any job started, or the run that replaced it. */
  reason: string | null;
  /** Whether a user cancelled this attempt. */
  isCancelled: boolean;
  concurrencyGroup: string | null;
  concurrencyState: 'holding' | 'pending' | null;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
}

/** A row of `ci_workflow_files`: the content of a file, stored once for all its runs. */
interface WorkflowFileRow {
  hash: string;
  content: string;
}

export const runSchema = new EntitySchema<RunRow>({
  name: 'ciRun',
  tableName: 'ci_runs',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    repositoryId: { name: 'repository_id', type: 'text' },
    number: { type: 'integer' },
    workflowPath: { name: 'workflow_path', type: 'text' },
    workflowFolder: { name: 'workflow_folder', type: 'text' },
    workflowName: { name: 'workflow_name', type: 'text' },
    fileHash: { name: 'file_hash', type: 'text' },
    title: { type: 'text' },
    event: { type: 'text' },
    eventPayload: { name: 'event_payload', type: 'simple-json' },
    ref: { type: 'text' },
    sha: { type: 'text' },
    isTrusted: { name: 'is_trusted', type: 'boolean' },
    approval: { type: 'text', nullable: true },
    approvedBy: { name: 'approved_by', type: 'text', nullable: true },
    approvedAt: { name: 'approved_at', type: 'integer', nullable: true },
    actorId: { name: 'actor_id', type: 'text', nullable: true },
    deployKey: { name: 'deploy_key', type: 'text', nullable: true },
    attempt: { type: 'integer' },
    attemptActorId: { name: 'attempt_actor_id', type: 'text', nullable: true },
    status: { type: 'text' },
    reason: { type: 'text', nullable: true },
    isCancelled: { name: 'is_cancelled', type: 'boolean' },
    concurrencyGroup: { name: 'concurrency_group', type: 'text', nullable: true },
    concurrencyState: { name: 'concurrency_state', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    startedAt: { name: 'started_at', type: 'integer', nullable: true },
    finishedAt: { name: 'finished_at', type: 'integer', nullable: true },
  },
});

/** A row of `ci_run_numbers`: the highest run number of a repository, stored when a run is deleted. */
interface RunNumberRow {
  repositoryId: string;
  last: number;
}

export const runNumberSchema = new EntitySchema<RunNumberRow>({
  name: 'ciRunNumber',
  tableName: 'ci_run_numbers',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    last: { type: 'integer' },
  },
});

export const workflowFileSchema = new EntitySchema<WorkflowFileRow>({
  name: 'ciWorkflowFile',
  tableName: 'ci_workflow_files',
  columns: {
    hash: { type: 'text', primary: true },
    content: { type: 'text' },
  },
});
