import { nearestName } from '../../config/index.ts';
import { mayTake } from '../task-queue/group-waiting-jobs.ts';
import type { WaitingGroup } from '../task-queue/group-waiting-jobs.ts';

type LabelledRunner = Parameters<typeof mayTake>[0];

const maxShown = 10;

/**
 * Suggests alternatives to labels that no runner has, as a sentence for users: a similar label, the runner that has
 * most of the labels, or all labels. Considers only runners whose scope covers the repository.
 */
export function suggestLabels(line: WaitingGroup, runners: readonly LabelledRunner[]): string {
  const here = runners.filter((runner) => mayTake(runner, { ...line, labels: [] }) && runner.labels.length > 0);
  const known = [...new Set(here.flatMap((runner) => runner.labels))].sort();
  if (known.length === 0) return '';
  const unknown = line.labels.filter((label) => !known.includes(label));
  if (unknown.length === 0)
    return ` Each is a label of some runner, but no runner has all of them: ${here
      .slice(0, 3)
      .map((runner) => runner.labels.join(', '))
      .join('; ')}.`;
  const near = unknown.map((label) => nearestName(label, known));
  if (near.every((label) => label !== null)) {
    const corrected = line.labels.map((label) => (known.includes(label) ? label : nearestName(label, known)!));
    if (here.some((runner) => corrected.every((label) => runner.labels.includes(label))))
      return ` Did you mean ${corrected.join(', ')}?`;
  }
  const shown = known.slice(0, maxShown).join(', ');
  return ` The labels of runners here: ${shown}${known.length > maxShown ? ', …' : ''}.`;
}
