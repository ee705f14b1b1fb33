import { scopeOf } from '../scope.ts';
import type { CiScope } from '../scope.ts';
import type { Presence } from './last-seen.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';
import { runnerStatus } from './runner-status.ts';
import type { RunnerStatus } from './runner-status.ts';

/** A runner without its credentials. */
export interface Runner {
  id: number;
  uuid: string;
  name: string;
  scope: CiScope;
  status: RunnerStatus;
  version: string;
  labels: readonly string[];
  /** Labels of its last declaration; a job with another label runs in the runner's default environment. */
  declaredLabels: readonly string[];
  /** Whether a user has chosen `labels`. */
  hasChosenLabels: boolean;
  capabilities: readonly string[];
  ephemeral: boolean;
  isDisabled: boolean;
  /** Whether it rejects jobs with code of users without write access. */
  trustedOnly: boolean;
  createdAt: number;
  lastSeenAt: number | null;
  lastActiveAt: number | null;
}

/** @param isBusy whether it has a task */
export function toRunner(row: RunnerRow, presence: Presence, now: number, isBusy: boolean): Runner {
  const lastSeen = presence.of(row);
  return {
    id: row.id,
    uuid: row.uuid,
    name: row.name,
    scope: scopeOf(row),
    status: runnerStatus(lastSeen.lastSeenAt, isBusy, now),
    version: row.version,
    labels: row.labels,
    declaredLabels: row.declaredLabels,
    hasChosenLabels: row.hasChosenLabels,
    capabilities: row.capabilities,
    ephemeral: row.ephemeral,
    isDisabled: row.disabledAt !== null,
    trustedOnly: row.trustedOnly,
    createdAt: row.createdAt,
    ...lastSeen,
  };
}

/** Whether a runner has all labels that a job requires; labels ignore case, as on GitHub. */
export function hasLabels(runner: { labels: readonly string[] }, wanted: readonly string[]): boolean {
  const has = (label: string): boolean =>
    runner.labels.includes(label) || runner.labels.some((one) => one.toLowerCase() === label.toLowerCase());
  return wanted.every(has);
}

/** Capability of runners that run post steps when a task is cancelled. */
export const cancelling = 'cancelling';
