import type { MergeBlock } from '../../access/index.ts';

const count = (many: number, one: string): string => `${many} ${one}${many === 1 ? '' : 's'}`;

/** Explains a block in a sentence to the user who wants to merge. */
export function explainBlock(block: MergeBlock): string {
  switch (block.kind) {
    case 'not_open':
      return 'The pull request is not open.';
    case 'draft':
      return 'This is a draft: mark it as ready first.';
    case 'no_base':
      return 'The base branch is gone.';
    case 'conflict':
      return 'There are conflicts with the base branch.';
    case 'unknown':
      return 'Whether it merges could not be computed.';
    case 'empty':
      return 'The base branch has all of it already.';
    case 'unrelated':
      return 'The two branches have no common history.';
    case 'level':
      return 'You may not merge into this branch.';
    case 'style':
      return `The rule of the branch allows only: ${block.styles.map((style) => style.toLowerCase()).join(', ')}.`;
    case 'approvals':
      return `${count(block.need, 'approval')}${block.isNamed ? ' by the people whom the rule names' : ''} needed, ${block.have} given.`;
    case 'owners':
      return `Owners of code have not approved: ${block.missing.map(({ pattern }) => pattern).join(', ')}.`;
    case 'changes_requested':
      return `${count(block.by.length, 'reviewer')} requested changes.`;
    case 'threads':
      return `${count(block.open, 'thread')} not resolved.`;
    case 'checks':
      return `Required checks: ${block.missing.map(({ context, state }) => `${context} (${state})`).join(', ')}.`;
    case 'needs':
      return `It needs ${block.numbers.map((number) => (number === null ? 'a pull request elsewhere' : `#${number}`)).join(', ')}, which has to be merged first.`;
    case 'queue':
      return 'This branch takes merges from its merge queue alone.';
    case 'behind':
      return 'The branch is behind its base branch: update it first.';
  }
}
