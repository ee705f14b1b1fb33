import type { AnnouncedEntry } from '../../issues/index.ts';

/** An entry as the event that workflow files name. */
export interface IssueAct {
  event: 'issues' | 'issue_comment';
  action: string;
  /** Position of the comment. */
  comment?: number;
  label?: { name: string; colour: string };
  /** Title of the milestone that was added. */
  milestone?: string;
  /** UUID of the user who was assigned or unassigned. */
  assignee?: string;
  /** The replaced title or text. */
  before?: { title: string } | { position: number; revision: number };
}

/** Limit of events per entry: each label and each assignee is an event of its own, as on other forges. */
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
 * The events of an entry; empty for kinds without an event in workflow files. Pull requests yield only comment events,
 * as `issue_comment`; `pull_request` covers their other entries.
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
