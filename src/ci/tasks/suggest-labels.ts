import { nearestName } from '../../config/index.ts';
import { mayTake } from './group-waiting-jobs.ts';
import type { WaitingGroup } from './group-waiting-jobs.ts';

type LabelledRunner = Parameters<typeof mayTake>[0];

const maxShown = 10;

/**
 * What to write instead of labels that no runner has, as a sentence for people: a similar label, the runner that has
 * the most of them, or all labels there are. Only runners whose scope has the repository count.
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
