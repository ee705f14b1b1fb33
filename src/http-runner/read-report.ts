import type { FinalStatus, TaskReport } from '../ci/index.ts';
import { Result } from './messages/runner-messages.ts';
import type { TaskState, Timestamp } from './messages/runner-messages.ts';
import { toNumber } from './to-number.ts';

const results = new Map<number, FinalStatus>([
  [Result.success, 'success'],
  [Result.failure, 'failure'],
  [Result.cancelled, 'cancelled'],
  [Result.skipped, 'skipped'],
]);

/** An unknown value counts as unspecified, which is not a result. */
const readResult = (number: number): FinalStatus | null => results.get(number) ?? null;

const lastMoment = 253_402_300_799_000;

/** Milliseconds since the epoch; null for an unset time. Clamps times beyond the range of calendars. */
function readTime(timestamp: Timestamp | null): number | null {
  if (timestamp === null || (timestamp.seconds === 0n && timestamp.nanos === 0)) return null;
  const ms = toNumber(timestamp.seconds) * 1000 + Math.trunc(timestamp.nanos / 1_000_000);
  return Math.min(Math.max(ms, 0), lastMoment);
}

/** Converts the task state that a runner reports into a report for the ci module. */
export function readReport(state: TaskState, outputs: ReadonlyMap<string, string>): TaskReport {
  return {
    taskId: toNumber(state.id),
    result: readResult(state.result),
    startedAt: readTime(state.startedAt),
    stoppedAt: readTime(state.stoppedAt),
    steps: state.steps.map((step) => ({
      id: toNumber(step.id),
      result: readResult(step.result),
      startedAt: readTime(step.startedAt),
      stoppedAt: readTime(step.stoppedAt),
      logIndex: Math.max(0, toNumber(step.logIndex)),
      logLength: Math.max(0, toNumber(step.logLength)),
    })),
    outputs,
  };
}
