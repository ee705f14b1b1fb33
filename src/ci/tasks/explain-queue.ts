import { In } from 'typeorm';
import { allows } from '../../access/index.ts';
import type { CiDeps } from '../deps.ts';
import { toRunner } from '../runner-model/runner.ts';
import { runnerSchema } from '../schema/runner-schema.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import type { Found } from '../../repositories/index.ts';
import { finishedRunners } from '../runners/finished-runners.ts';
import { mayTake, groupWaitingJobs } from '../task-queue/group-waiting-jobs.ts';
import { suggestLabels } from './suggest-labels.ts';
import type { WaitingGroup } from '../task-queue/group-waiting-jobs.ts';

/** A job that has not started, and the reason. */
export interface QueuedJob {
  job: JobRow;
  run: RunRow;
  /** Queue position among all jobs that wait for a runner, from 1; null if it waits for something else. */
  place: number | null;
  /** Message shown to users. */
  reason: string;
}

const maxShown = 200;

/** Returns the unstarted jobs of a repository or of the whole instance; those that wait for a runner come first. */
export async function explainQueue(
  deps: CiDeps,
  found: Pick<Found, 'repository' | 'level'> | null,
): Promise<QueuedJob[]> {
  const { read } = deps.db;
  const here = found === null ? {} : { repositoryId: found.repository.id };
  const jobs = await read.find(jobSchema, {
    where: { ...here, status: In(['waiting', 'blocked']) },
    order: { waitingSince: { direction: 'ASC', nulls: 'LAST' }, id: 'ASC' },
    take: maxShown,
  });
  if (jobs.length === 0) return [];
  const runs = new Map(
    (await read.findBy(runSchema, { id: In(jobs.map((job) => job.runId)) })).map((run) => [run.id, run]),
  );
  const lines = await groupWaitingJobs(read);
  const explainWaiting = await waitingReasons(deps, found === null || allows(found.level, 'write'));
  const places = await placesOf(deps, jobs);
  return jobs.flatMap((job) => {
    const run = runs.get(job.runId);
    if (run === undefined) return [];
    const line = lines.find(
      (one) =>
        one.repositoryId === job.repositoryId &&
        one.isTrusted === run.isTrusted &&
        one.labels.join() === job.runsOn?.join(),
    );
    const again = job.lostRunner === null ? '' : `The runner ${job.lostRunner} was lost; the job is tried again. `;
    const reason = job.status === 'waiting' ? again + explainWaiting(line) : explainBlocked(job, run);
    return [{ job, run, place: places.get(job.id) ?? null, reason }];
  });
}

/** Idle runners poll more often than this. */
const silentSeconds = 30;

/** Positions by age; the fair scheduler may start a job earlier. */
async function placesOf({ db }: CiDeps, shown: readonly JobRow[]): Promise<Map<number, number>> {
  const waiting = await db.read.find(jobSchema, {
    where: { status: 'waiting' },
    order: { waitingSince: 'ASC', id: 'ASC' },
    select: { id: true },
  });
  const wanted = new Set(shown.map((job) => job.id));
  return new Map(waiting.flatMap(({ id }, at) => (wanted.has(id) ? [[id, at + 1] as const] : [])));
}

/**
 * @param showsLabels whether to name the labels of runners, which readers of a repository may not see
 */
async function waitingReasons(
  { db, presence, clock }: CiDeps,
  showsLabels: boolean,
): Promise<(line: WaitingGroup | undefined) => string> {
  const finished = await finishedRunners(db.read, { isLogComplete: false });
  const runners = (await db.read.find(runnerSchema)).filter(({ id }) => !finished.has(id));
  return (line) => {
    if (line === undefined) return 'It is about to begin.';
    const able = runners.filter((runner) => mayTake(runner, line));
    const labels = line.labels.length === 0 ? 'any label' : line.labels.join(', ');
    if (able.length === 0 && runners.some((runner) => mayTake(runner, { ...line, isTrusted: true })))
      return `The runners for ${labels} take no code of people without write access.`;
    if (able.length === 0)
      return `No runner here has ${line.labels.length > 1 ? 'all of the labels' : 'the label'} ${labels}.${showsLabels ? suggestLabels(line, runners) : ''}`;
    const enabled = able.filter((runner) => runner.disabledAt === null);
    if (enabled.length === 0) return `The runners for ${labels} are paused.`;
    const online = enabled.filter(
      (runner) => !['offline', 'unspecified'].includes(toRunner(runner, presence, clock.now(), false).status),
    );
    if (online.length === 0) return `The runners for ${labels} are offline.`;
    const now = clock.now();
    const seen = online.map((runner) => toRunner(runner, presence, now, false).lastSeenAt ?? 0);
    const silent = Math.round((now - Math.max(...seen)) / 1000);
    // A polling runner calls more often; a killed one does not.
    if (silent >= silentSeconds) return `The runners for ${labels} made their last call ${silent} seconds ago.`;
    return `All runners for ${labels} are busy.`;
  };
}

function explainBlocked(job: JobRow, run: RunRow): string {
  switch (job.hold) {
    case 'run':
      if (run.approval === 'waiting') return 'It waits for approval by a person with write access.';
      return `Another run holds the group “${run.concurrencyGroup}”.`;
    case 'concurrency':
      return `Another job holds the group “${job.concurrencyGroup}”.`;
    case 'parallel':
      return `At most ${job.maxParallel} of its kind run at the same time.`;
    default:
      return `It needs ${job.needs.join(', ')} first.`;
  }
}
