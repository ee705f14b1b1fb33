import { invalid } from '../../../kernel/index.ts';
import { noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { issueAt, numberIn, oneIssueAt } from '../shapes/issues-parts.ts';

/** Pins and locks of issues. */
const common = { tag: 'Issues', cost: 'rows', access: 'repository:read', scope: 'write' } as const;

/** One operation for each flag of an issue. */
const mark = (
  id: string,
  method: 'PUT' | 'POST' | 'DELETE',
  part: 'pin' | 'lock',
  summary: string,
  change: { isPinned: boolean } | { isLocked: boolean },
) =>
  operation({
    ...common,
    id,
    method,
    path: `${oneIssueAt}/${part}`,
    summary,
    status: 204,
    refuses: [422],
    async run({ viewer, found, params, deps }) {
      await deps.issues.triage(viewer, issueAt(found, params.number), change);
      return noContent();
    },
  });

const moveIssuePin = operation({
  ...common,
  id: 'moveIssuePin',
  method: 'PATCH',
  path: `${oneIssueAt}/pin/{position}`,
  summary: 'Move a pinned issue to a position, counted from 1',
  status: 204,
  refuses: [422],
  async run({ viewer, found, params, deps }) {
    const pinPosition = numberIn(params.position);
    if (pinPosition < 1) throw invalid('invalid_input', 'The place is a number from 1.', { field: 'position' });
    await deps.issues.triage(viewer, issueAt(found, params.number), { pinPosition });
    return noContent();
  },
});

export const issueMarks = [
  moveIssuePin,
  mark('pinIssue', 'POST', 'pin', 'Pin an issue to the top of the list', { isPinned: true }),
  mark('unpinIssue', 'DELETE', 'pin', 'Unpin an issue', { isPinned: false }),
  mark('lockIssue', 'PUT', 'lock', 'Lock an issue so that only users with write access can comment', {
    isLocked: true,
  }),
  mark('unlockIssue', 'DELETE', 'lock', 'Unlock an issue', { isLocked: false }),
];
