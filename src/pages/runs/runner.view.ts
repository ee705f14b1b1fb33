import type { Runner, RunnerTask } from '../../ci/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { translated } from '../../translation/index.ts';
import { viewStatus } from '../app/commit-state.view.ts';
import type { StatusView } from '../app/commit-state.view.ts';
import { viewName } from '../app/printable-names.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';
import { viewDuration } from './durations.ts';
import { runUrl } from './run-row.view.ts';
import type { RunsDeps } from './deps.ts';

interface RunnerView {
  id: number;
  name: string;
  status: string;
  tone: 'good' | 'busy' | 'idle';
  version: string;
  labels: string[];
  isEphemeral: boolean;
  isPaused: boolean;
  trustedOnly: boolean;
  seen: TimeView | null;
  created: TimeView;
  /** The labels that it declared, if others were chosen. */
  declaredLabels: string[] | null;
  /** Chosen labels that it does not declare: it runs their jobs in its default environment. */
  unknownLabels: string[];
}

/** A current or past job of a runner. */
interface RunnerTaskView {
  runnerId: number;
  url: string;
  name: string;
  run: string;
  repository: string;
  status: StatusView;
  started: TimeView;
  duration: string | null;
}

const tones: Record<Runner['status'], RunnerView['tone']> = {
  active: 'busy',
  idle: 'good',
  offline: 'idle',
  unspecified: 'idle',
};
const words: Record<Runner['status'], string> = translated({
  active: 'runs.runner.active',
  idle: 'runs.runner.idle',
  offline: 'runs.runner.offline',
  unspecified: 'runs.runner.never_seen',
});

export function viewRunner(runner: Runner, now: number): RunnerView {
  return {
    id: runner.id,
    name: viewName(runner.name),
    status: words[runner.status],
    tone: tones[runner.status],
    version: viewName(runner.version),
    labels: runner.labels.map(viewName),
    isEphemeral: runner.ephemeral,
    isPaused: runner.isDisabled,
    trustedOnly: runner.trustedOnly,
    seen: runner.lastSeenAt === null ? null : viewTime(runner.lastSeenAt, now),
    created: viewTime(runner.createdAt, now),
    declaredLabels: runner.hasChosenLabels ? runner.declaredLabels.map(viewName) : null,
    unknownLabels:
      runner.hasChosenLabels && runner.version !== ''
        ? runner.labels.filter((label) => !runner.declaredLabels.includes(label)).map(viewName)
        : [],
  };
}

/** Jobs of runners with their URLs, in the order given. */
export async function viewRunnerTasks(
  tasks: readonly RunnerTask[],
  { repositories, clock }: Pick<RunsDeps, 'repositories' | 'clock'>,
): Promise<RunnerTaskView[]> {
  const located = await repositories.locate([...new Set(tasks.map(({ repositoryId }) => repositoryId))]);
  return tasks.flatMap((task) => {
    const place = located.get(task.repositoryId);
    if (place === undefined) return [];
    const canonical = { owner: place.owner.handle, name: place.repository.name };
    return {
      runnerId: task.runnerId,
      url: `${runUrl(repositoryUrl(canonical), task.runNumber)}/jobs/${task.jobId}`,
      name: viewName(task.jobName),
      run: `${viewName(task.workflowName)} #${task.runNumber}`,
      repository: `${canonical.owner}/${canonical.name}`,
      status: viewStatus(task.status),
      started: viewTime(task.startedAt ?? task.createdAt, clock.now()),
      duration: viewDuration(task.startedAt ?? task.createdAt, task.stoppedAt, clock.now()),
    };
  });
}
