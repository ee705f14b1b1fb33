import { In, LessThan } from 'typeorm';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { findRun, tasksOf } from '../runs/find-run.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';

/** How long something took in two runs, in milliseconds; null where it did not run to its end. */
interface ComparedTime {
  name: string;
  beforeMs: number | null;
  afterMs: number | null;
}

export interface ComparedJob extends ComparedTime {
  steps: ComparedTime[];
}

interface Comparison {
  before: RunRow;
  after: RunRow;
  jobs: ComparedJob[];
}

const lengthOf = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : Math.max(0, to - from);

/**
 * Durations of the jobs and steps of two runs of a repository, in their newest attempts. Jobs are paired by their name,
 * steps by their name in the job; the list has also what only one run has. Throws `run_not_found`.
 * @param number the run that is looked at, @param other the one that it is compared with
 */
export async function compareRuns(
  deps: Pick<CiDeps, 'db' | 'reports'>,
  found: Pick<Found, 'repository'>,
  number: number,
  other: number,
): Promise<Comparison> {
  const [after, before] = await Promise.all([timesOf(deps, found, number), timesOf(deps, found, other)]);
  return {
    before: before.run,
    after: after.run,
    jobs: paired(before.jobs, after.jobs).map(({ name, before: one, after: two }) => ({
      name,
      beforeMs: one?.ms ?? null,
      afterMs: two?.ms ?? null,
      steps: paired(one?.steps ?? [], two?.steps ?? []).map((step) => ({
        name: step.name,
        beforeMs: step.before?.ms ?? null,
        afterMs: step.after?.ms ?? null,
      })),
    })),
  };
}

interface Timed {
  name: string;
  ms: number | null;
}

async function timesOf(
  deps: Pick<CiDeps, 'db' | 'reports'>,
  found: Pick<Found, 'repository'>,
  number: number,
): Promise<{ run: RunRow; jobs: (Timed & { steps: Timed[] })[] }> {
  const { run, jobs } = await findRun(deps, found, number);
  const tasks = await tasksOf(deps, jobs);
  return {
    run,
    jobs: jobs.map(({ name, taskId, startedAt, finishedAt }) => ({
      name,
      ms: lengthOf(startedAt, finishedAt),
      steps: ((taskId === null ? undefined : tasks.get(taskId)?.steps) ?? []).map((step) => ({
        name: step.name,
        ms: lengthOf(step.startedAt, step.stoppedAt),
      })),
    })),
  };
}

/** Pairs by name, the first with the first: in the order of `after`, then what only `before` has. */
function paired<T extends { name: string }>(
  before: readonly T[],
  after: readonly T[],
): { name: string; before: T | null; after: T | null }[] {
  const left = Map.groupBy(before, ({ name }) => name);
  const pairs = after.map((one) => ({ name: one.name, before: left.get(one.name)?.shift() ?? null, after: one }));
  return [...pairs, ...[...left.values()].flat().map((one) => ({ name: one.name, before: one, after: null }))];
}

/** The newest earlier run of the same workflow on the same branch or tag that ran to its end; null without one. */
export async function runBefore({ db }: Pick<CiDeps, 'db'>, run: RunRow): Promise<RunRow | null> {
  const { repositoryId, workflowPath, ref, number } = run;
  return db.read.findOne(runSchema, {
    where: { repositoryId, workflowPath, ref, number: LessThan(number), status: In(['success', 'failure']) },
    order: { number: 'DESC' },
  });
}
