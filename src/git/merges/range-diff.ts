import { internal } from '../../kernel/index.ts';
import { checked } from '../objects/browse.ts';
import { mergeFrom, treeOf } from './merge-trees.ts';
import type { ConflictedFile } from './merge-trees.ts';
import type { MergeWorkspace } from './merge-workspace.ts';

/** A series of commits: those in `head` but not in `base`. Full ids. */
export interface CommitRange {
  base: string;
  head: string;
}

/**
 * An earlier version of a series, applied to the base of a later one: its difference to the later head is the author's
 * change, without the effects of a rebase.
 */
export type CarriedRange =
  | { kind: 'clean'; tree: string }
  /** `tree` has conflict markers. */
  | { kind: 'conflict'; tree: string; files: ConflictedFile[] }
  | { kind: 'unrelated' };

/** Carries `range` onto another base. Throws `internal` if git fails or takes too long. */
export async function carryRange(workspace: MergeWorkspace, range: CommitRange, onto: string): Promise<CarriedRange> {
  if (range.base === onto) return { kind: 'clean', tree: await treeOf(workspace, range.head) };
  return mergeFrom(workspace, { onto, ...range });
}

/** How a commit of one version of a series relates to the other version. */
export interface PairedCommit {
  /** Null for a commit that exists only in the other version. */
  before: string | null;
  after: string | null;
  /** `equal`: the same change; `changed`: a different one in its place. */
  kind: 'equal' | 'changed' | 'removed' | 'added';
}

/** Limit of commits in a paired series: git compares each commit with every other. */
export const maxPairedCommits = 100;

/** Pairs the commits of two versions of a series (git-range-diff(1)), in git's output order. */
export async function pairCommits(
  workspace: MergeWorkspace,
  before: CommitRange,
  after: CommitRange,
): Promise<PairedCommit[]> {
  const range = ({ base, head }: CommitRange) => `${checked(base)}..${checked(head)}`;
  const { code, output, errorText } = await workspace.run([
    '-c',
    'core.abbrev=no',
    'range-diff',
    '--no-color',
    '--no-patch',
    range(before),
    range(after),
  ]);
  if (code !== 0) throw internal('git could not compare two series', { cause: { code, errorText } });
  const kinds = { '=': 'equal', '!': 'changed', '<': 'removed', '>': 'added' } as const;
  return output
    .toString('utf8')
    .split('\n')
    .flatMap((line): PairedCommit[] => {
      const found = /^\s*(?:\d+|-):\s+([0-9a-f]{40,64}|-+)\s+([=!<>])\s+(?:\d+|-):\s+([0-9a-f]{40,64}|-+)/.exec(line);
      if (found === null) return [];
      const id = (text: string) => (text.startsWith('-') ? null : text);
      return [{ before: id(found[1]!), after: id(found[3]!), kind: kinds[found[2] as keyof typeof kinds] }];
    });
}
