import type { AnnouncedEntry } from '../../issues/index.ts';

/** An entry in the words of workflow files. */
export interface IssueAct {
  event: 'issues' | 'issue_comment';
  action: string;
  /** Position of the comment that it is about. */
  comment?: number;
  label?: { name: string; colour: string };
  /** Title of the milestone that it was put into. */
  milestone?: string;
  /** UUID of who was assigned, or is no more. */
  assignee?: string;
  /** The title, or the text, that was replaced. */
  before?: { title: string } | { position: number; revision: number };
}

/** Acts of one entry: each label and each person is an event of its own, as on other forges. */
const maxActs = 20;

const plain: Readonly<Record<string, string>> = {
  opened: 'opened',
  closed: 'closed',
  reopened: 'reopened',
  locked: 'locked',
  unlocked: 'unlocked',
  pinned: 'pinned',
  unpinned: 'unpinned',
  trashed: 'deleted',
};

/**
 * The events of an entry; none for kinds that workflows have no word for. Of pull requests only comments are events
 * here, as `issue_comment`; the rest is `pull_request`.
 */
export function issueActs({ issue, entry }: Pick<AnnouncedEntry, 'issue' | 'entry'>): IssueAct[] {
  const { kind, details, position } = entry;
  const about = Number(details['position'] ?? 0);
  if (kind === 'comment') return [{ event: 'issue_comment', action: 'created', comment: position }];
  if (kind === 'emptied') return [{ event: 'issue_comment', action: 'deleted', comment: about }];
  const before = { position: about, revision: Number(details['revision']) };
  if (kind === 'edited' && about > 0) return [{ event: 'issue_comment', action: 'edited', comment: about, before }];
  return issue.kind === 'PULL' ? [] : actsOnIssue(entry, before).slice(0, maxActs);
}

function actsOnIssue({ kind, details }: AnnouncedEntry['entry'], before: NonNullable<IssueAct['before']>): IssueAct[] {
  const event = 'issues';
  const action = plain[kind];
  if (action !== undefined) return [{ event, action }];
  switch (kind) {
    case 'titled':
      return [{ event, action: 'edited', before: { title: String(details['from'] ?? '') } }];
    case 'edited':
      return [{ event, action: 'edited', before }];
    case 'milestoned':
      return details['milestone'] === null
        ? [{ event, action: 'demilestoned' }]
        : [{ event, action: 'milestoned', milestone: String(details['milestone']) }];
    case 'labelled':
    case 'unlabelled': {
      const labels = (details['labels'] ?? []) as { name: string; colour: string }[];
      return labels.map((label) => ({ event, action: kind === 'labelled' ? 'labeled' : 'unlabeled', label }));
    }
    case 'assigned':
    case 'unassigned':
      return ((details['users'] ?? []) as string[]).map((assignee) => ({ event, action: kind, assignee }));
    default:
      return [];
  }
}
