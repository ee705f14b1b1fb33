import type { Filter, PullTrigger, PushTrigger, Triggers } from '../../ci/index.ts';
import { viewName } from '../app/printable-names.ts';

/** More patterns than this are a list to look up in the file. */
const maxShown = 5;

/** Which pushes start a workflow, in sentences: one for branches, one for tags. */
export function describePushTrigger({ branches, tags, paths }: PushTrigger): string[] {
  if (branches === null && tags === null && paths === null) return ['A push to any branch or tag'];
  const sentences: string[] = [];
  // A filter on one of the two kinds alone leaves the other one out.
  if (branches !== null || tags === null) {
    const refs = describeFilter(branches, '', 'any branch');
    const changes = paths === null ? '' : ` that changes ${describeFilter(paths, '', 'any file')}`;
    sentences.push(`A push to ${refs}${changes !== '' && refs.includes(',') ? ',' : ''}${changes}`);
  }
  // Paths are not looked at for tags.
  if (tags !== null || branches === null) sentences.push(`A push of ${describeFilter(tags, 'the tag ', 'any tag')}`);
  return sentences;
}

/** Which pull requests start it, in a sentence. Those from forks, and of people who may not write, start nothing. */
export function describePullTrigger({ branches, paths }: PullTrigger): string {
  const into = branches === null ? '' : ` into ${describeFilter(branches, '', 'any branch')}`;
  const changes = paths === null ? '' : ` that changes ${describeFilter(paths, '', 'any file')}`;
  return `A pull request${into}${changes !== '' && into.includes(',') ? ',' : ''}${changes} by those who may write here`;
}

/** Which merge queues start it. */
export const describeMergeGroup = ({ branches }: NonNullable<Triggers['mergeGroup']>): string =>
  `The merge queue of ${describeFilter(branches, '', 'any branch')}`;

/** `main or rel/**, but not rel/old/**`: patterns count in their order, a later one overrules. */
function describeFilter(filter: Filter | null, noun: string, everything: string): string {
  if (filter === null) return everything;
  const { kind, patterns } = filter;
  const shown = patterns.slice(0, maxShown);
  const more = patterns.length > maxShown ? ' …' : '';
  if (kind === 'ignore') return `${everything} but ${listed(shown)}${more}`;
  const parts: { isOut: boolean; names: string[] }[] = [];
  for (const pattern of shown) {
    const isOut = pattern.startsWith('!');
    const last = parts.at(-1);
    if (last?.isOut === isOut) last.names.push(isOut ? pattern.slice(1) : pattern);
    else parts.push({ isOut, names: [isOut ? pattern.slice(1) : pattern] });
  }
  const texts = parts.map(({ isOut, names }, at) => `${isOut ? 'but not ' : at > 0 ? 'but ' : ''}${listed(names)}`);
  return `${noun}${texts.join(', ')}${more}`;
}

const listed = (names: readonly string[]): string => names.map(viewName).join(' or ');
