import type { Runner } from '../../ci/index.ts';
import { viewName } from '../app/plain-text.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';

export interface RunnerView {
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
}

const tones: Record<Runner['status'], RunnerView['tone']> = {
  active: 'busy',
  idle: 'good',
  offline: 'idle',
  unspecified: 'idle',
};
const words: Record<Runner['status'], string> = {
  active: 'Active',
  idle: 'Idle',
  offline: 'Offline',
  unspecified: 'Never seen',
};

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
  };
}
