import type { Issue, Label, ListedIssue, Milestone } from '../../issues/index.ts';
import type { Owner } from '../../owners/index.ts';
import { t } from '../../translation/index.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';
import type { IssuesDeps } from './deps.ts';
import { viewLabel } from './label.view.ts';
import type { LabelView } from './label.view.ts';
import { issueUrl } from './issue-urls.ts';
import { viewAuthor, viewPerson } from './people.view.ts';
import type { PersonView } from './people.view.ts';

/** A label with a link to its issues; null where no such list exists. */
export type LinkedLabelView = LabelView & { url: string | null };

export interface IssueRowView {
  number: number;
  url: string;
  title: string;
  state: IssueStateView;
  labels: LinkedLabelView[];
  author: PersonView;
  /** `opened`, `closed` or `merged`. */
  verb: string;
  at: TimeView;
  comments: number;
  milestone: { title: string; url: string } | null;
  assignees: PersonView[];
  isPinned: boolean;
  isLocked: boolean;
  isPull: boolean;
  /** Set in lists over several repositories. */
  repository: { name: string; url: string; isPrivate: boolean } | null;
}

export interface IssueStateView {
  icon: string;
  /** `good`, `done` or `off`: CSS class of the icon. */
  tone: string;
  title: string;
}

export function viewState({ kind, state, closeReason }: Pick<Issue, 'kind' | 'state' | 'closeReason'>): IssueStateView {
  if (kind === 'PULL')
    return {
      OPEN: { icon: 'pull', tone: 'good', title: t('issues.issue_row.open') },
      MERGED: { icon: 'merge', tone: 'done', title: t('issues.issue_row.merged') },
      CLOSED: { icon: 'pull-closed', tone: 'bad', title: t('issues.issue_row.closed') },
    }[state];
  if (state === 'OPEN') return { icon: 'issue', tone: 'good', title: t('issues.issue_row.open') };
  if (closeReason === 'not_planned')
    return { icon: 'skip', tone: 'off', title: t('issues.issue_row.closed_as_not_planned') };
  if (closeReason === 'duplicate')
    return { icon: 'skip', tone: 'off', title: t('issues.issue_row.closed_as_duplicate') };
  return { icon: 'issue-closed', tone: 'done', title: t('issues.issue_row.closed_as_completed') };
}

/**
 * @param urlOf returns the URL of the list of a label
 */
export const viewLinkedLabel = (label: Label, urlOf: ((name: string) => string) | null): LinkedLabelView => ({
  ...viewLabel(label),
  url: urlOf?.(label.name) ?? null,
});

/** Reads the authors and assignees of some issues with one query. */
export async function readPeople(
  { owners }: Pick<IssuesDeps, 'owners'>,
  issues: readonly Pick<ListedIssue, 'authorId' | 'assignees'>[],
): Promise<ReadonlyMap<string, Owner>> {
  const ids = issues.flatMap(({ authorId, assignees }) => [...(authorId === null ? [] : [authorId]), ...assignees]);
  return owners.ownersById(new Set(ids));
}

export interface RowContext {
  /** URL of the repository, without a slash at the end. */
  repositoryUrl: string;
  people: ReadonlyMap<string, Owner>;
  /** By id; only in the list of a single repository. */
  milestones?: ReadonlyMap<string, Milestone>;
  labelUrl?: (name: string) => string;
  repository?: IssueRowView['repository'];
  now: number;
}

export function viewIssueRow(issue: ListedIssue, context: RowContext): IssueRowView {
  const { repositoryUrl, people, milestones, labelUrl, repository = null, now } = context;
  const milestone = issue.milestoneId === null ? undefined : milestones?.get(issue.milestoneId);
  const isOpen = issue.state === 'OPEN';
  return {
    number: issue.number,
    url: issueUrl(repositoryUrl, issue.number, issue.kind),
    title: issue.title,
    state: viewState(issue),
    labels: issue.labels.map((label) => viewLinkedLabel(label, labelUrl ?? null)),
    author: viewAuthor(issue, people),
    verb: isOpen ? 'opened' : issue.state === 'MERGED' ? 'merged' : 'closed',
    at: viewTime(isOpen ? issue.createdAt : (issue.closedAt ?? issue.updatedAt), now),
    comments: issue.commentCount,
    milestone:
      milestone === undefined ? null : { title: milestone.title, url: `${repositoryUrl}/milestones/${milestone.id}` },
    assignees: issue.assignees.flatMap((id) => {
      const owner = people.get(id);
      return owner === undefined ? [] : [viewPerson(id, people)];
    }),
    isPinned: issue.pinnedAt !== null,
    isLocked: issue.lockedAt !== null,
    isPull: issue.kind === 'PULL',
    repository,
  };
}
