import type { Filter, PullTrigger, PushTrigger, Triggers } from '../../ci/index.ts';
import { viewName } from '../app/printable-names.ts';
import { t } from '../../translation/index.ts';

/** Beyond this number of patterns, readers should open the file. */
const maxShown = 5;

/** The pushes that start a workflow, as sentences: one for branches, one for tags. */
export function describePushTrigger({ branches, tags, paths }: PushTrigger): string[] {
  if (branches === null && tags === null && paths === null) return [t('runs.triggers.any_push')];
  const sentences: string[] = [];
  // A filter on only one of the two kinds excludes the other.
  if (branches !== null || tags === null) {
    const refs = describeFilter(branches, t('runs.triggers.any_branch'));
    sentences.push(
      paths === null
        ? t('runs.triggers.push', { refs })
        : t('runs.triggers.push_of_paths', {
            refs,
            comma: refs.includes(',') ? ',' : '',
            paths: describeFilter(paths, t('runs.triggers.any_file')),
          }),
    );
  }
  // Filters on paths do not apply to tags.
  if (tags !== null) {
    const key = tags.kind === 'ignore' ? 'runs.triggers.tags_except' : 'runs.triggers.tag';
    sentences.push(t(key, { tags: describeFilter(tags, t('runs.triggers.any_tag')) }));
  }
  if (tags === null && branches === null) sentences.push(t('runs.triggers.any_tag_push'));
  return sentences;
}

/**
 * The pull requests that start it, as a sentence. Those from forks, and of users without write access, start nothing.
 */
export function describePullTrigger({ branches, paths }: PullTrigger): string {
  const refs = branches === null ? null : describeFilter(branches, t('runs.triggers.any_branch'));
  const files = paths === null ? null : describeFilter(paths, t('runs.triggers.any_file'));
  if (refs === null)
    return files === null ? t('runs.triggers.pull') : t('runs.triggers.pull_of_paths', { paths: files });
  if (files === null) return t('runs.triggers.pull_into', { refs });
  return t('runs.triggers.pull_into_of_paths', { refs, comma: refs.includes(',') ? ',' : '', paths: files });
}

/** The merge queues that start it. */
export const describeMergeGroup = ({ branches }: NonNullable<Triggers['mergeGroup']>): string =>
  t('runs.triggers.merge_queue', { refs: describeFilter(branches, t('runs.triggers.any_branch')) });

/** `main or rel/**, but not rel/old/**`: patterns apply in order, and a later one overrides. */
function describeFilter(filter: Filter | null, everything: string): string {
  if (filter === null) return everything;
  const { kind, patterns } = filter;
  const shown = patterns.slice(0, maxShown);
  const more = patterns.length > maxShown ? ' …' : '';
  if (kind === 'ignore') return `${everything} ${t('runs.triggers.but', { names: listed(shown) })}${more}`;
  const parts: { isOut: boolean; names: string[] }[] = [];
  for (const pattern of shown) {
    const isOut = pattern.startsWith('!');
    const last = parts.at(-1);
    if (last?.isOut === isOut) last.names.push(isOut ? pattern.slice(1) : pattern);
    else parts.push({ isOut, names: [isOut ? pattern.slice(1) : pattern] });
  }
  const texts = parts.map(({ isOut, names }, at) =>
    isOut
      ? t('runs.triggers.but_not', { names: listed(names) })
      : at > 0
        ? t('runs.triggers.but', { names: listed(names) })
        : listed(names),
  );
  return `${texts.join(', ')}${more}`;
}

const listed = (names: readonly string[]): string => names.map(viewName).join(t('runs.triggers.or'));
