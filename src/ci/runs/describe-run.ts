import type { JobRow } from '../schema/job-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import type { RunStatus } from '../run-status.ts';

/** A run as returned by the API and the command line. Transports add URLs. */
interface DescribedRun {
  number: number;
  status: RunStatus;
  title: string;
  /** Path of the workflow file below the folder of workflows. */
  workflow: string;
  workflowName: string;
  event: string;
  ref: string;
  commit: string;
  attempt: number;
  /** Username of the user who started it; null for scheduled runs and deleted accounts. */
  actor: string | null;
  /** Title of the deploy key whose push started it, or null. */
  deployKey: string | null;
  reason: string | null;
  /** For code of users without write access; null if no approval is required. */
  approval: 'waiting' | 'approved' | null;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
}

/** One job of a run. */
interface DescribedJob {
  id: number;
  key: string;
  name: string;
  attempt: number;
  status: RunStatus;
  labels: string[] | null;
  needs: string[];
  /** Why it did not run, was lost, or is still waiting. */
  reason: string | null;
  /** When a runner could have it; null if none could. */
  queuedAt: string | null;
  startedAt: string | null;
  finishedAt: string | null;
}

/** Formats epoch milliseconds for a transport. */
type WriteTime = (epochMs: number) => string;

const orNull = (epochMs: number | null, time: WriteTime): string | null => (epochMs === null ? null : time(epochMs));

/**
 * @param actor username of the user who started it, if known
 */
export function describeRun(row: RunRow, actor: string | null, time: WriteTime): DescribedRun {
  return {
    number: row.number,
    status: row.status,
    title: row.title,
    workflow: row.workflowPath,
    workflowName: row.workflowName,
    event: row.event,
    ref: row.ref,
    commit: row.sha,
    attempt: row.attempt,
    actor,
    deployKey: row.deployKey,
    reason: row.reason,
    approval: row.approval,
    createdAt: time(row.createdAt),
    startedAt: orNull(row.startedAt, time),
    finishedAt: orNull(row.finishedAt, time),
  };
}

/**
 * @param waitsFor why no runner has taken it yet, from `explainQueue`
 */
export function describeJob(job: JobRow, waitsFor: string | null, time: WriteTime): DescribedJob {
  return {
    id: job.id,
    key: job.jobKey,
    name: job.name,
    attempt: job.attempt,
    status: job.status,
    labels: job.runsOn,
    needs: job.needs,
    reason: job.reason ?? waitsFor,
    queuedAt: orNull(job.waitingSince, time),
    startedAt: orNull(job.startedAt, time),
    finishedAt: orNull(job.finishedAt, time),
  };
}
