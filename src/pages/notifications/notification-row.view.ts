import type { Notification, Reason } from '../../notifications/index.ts';
import { shortRef } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { encodeRef } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';
import { viewState } from '../issues/issue-row.view.ts';
import { entryUrl } from '../app/entry-urls.ts';
import { issueUrl } from '../issues/issue-urls.ts';

export interface NotificationRowView {
  id: number;
  title: string;
  /** Leads to what is unread, or to the end of what was read. */
  url: string;
  state: { icon: string; tone: string; title: string };
  repository: { name: string; url: string; isPrivate: boolean };
  /** `#7`, `v1.0`, or `run 12`. */
  name: string;
  reason: string;
  /** What a pull request changes since the review of the person; null where nothing came since. */
  changesUrl: string | null;
  isUnread: boolean;
  isSaved: boolean;
  isDone: boolean;
  at: TimeView;
}

/** Why a person is notified, as text. */
export const reasonWords: Readonly<Record<Reason, string>> = {
  mention: 'You were mentioned',
  review_asked: 'You were asked for a review',
  assigned: 'Assigned to you',
  author: 'You opened this',
  reply: 'You take part in this',
  approved: 'Approved',
  merged: 'Merged',
  ci_failed: 'Your push failed its checks',
  release: 'Released',
  watching: 'You watch this repository',
};

/** The address of what a notification is about. */
export function targetOf({
  place,
  issue,
  run,
  release,
  isUnread,
  firstPosition,
  lastPosition,
}: Pick<Notification, 'place' | 'issue' | 'run' | 'release' | 'isUnread' | 'firstPosition' | 'lastPosition'>): string {
  const url = repositoryUrl({ owner: place.owner.handle, name: place.repository.name });
  if (release !== null) return `${url}/releases/tag/${encodeRef(release.tag)}`;
  if (issue === null) return `${url}/runs/${run!.number}`;
  const position = isUnread ? firstPosition : lastPosition;
  const address = issue.kind === 'PULL' ? `${url}/pulls/${issue.number}` : issueUrl(url, issue.number);
  return position === 0 ? address : entryUrl(address, position);
}

const settledDeployment = 'No review is needed any more';

/** Branches and tags without what git puts before them. */

export const titleOf = ({ title, run, deployment }: Pick<Notification, 'title' | 'run' | 'deployment'>): string =>
  run === null || deployment !== null ? title : `${run.workflow} failed on ${shortRef(run.ref)}: ${run.title}`;

function stateOf({ issue, release, deployment, resolvedAt }: Notification): NotificationRowView['state'] {
  if (issue !== null) return viewState(issue);
  if (release !== null) return { icon: 'package', tone: 'good', title: 'Released' };
  if (deployment !== null)
    return resolvedAt === null
      ? { icon: 'clock', tone: 'off', title: 'Waits for a review' }
      : { icon: 'check', tone: 'good', title: settledDeployment };
  return resolvedAt === null
    ? { icon: 'cross', tone: 'bad', title: 'Failed' }
    : { icon: 'check', tone: 'good', title: 'Resolved by a later run' };
}

export function viewNotificationRow(notification: Notification, now: number): NotificationRowView {
  const {
    id,
    place,
    issue,
    run,
    release,
    deployment,
    reason,
    isUnread,
    savedAt,
    doneAt,
    resolvedAt,
    listedAt,
    reviewedRound,
  } = notification;
  const { owner, repository } = place;
  const isResolved = resolvedAt !== null;
  return {
    id,
    title: viewName(titleOf(notification)),
    url: targetOf(notification),
    state: stateOf(notification),
    repository: {
      name: `${owner.handle}/${repository.name}`,
      url: repositoryUrl({ owner: owner.handle, name: repository.name }),
      isPrivate: repository.visibility === 'PRIVATE',
    },
    name: issue !== null ? `#${issue.number}` : release !== null ? viewName(release.tag) : `run ${run!.number}`,
    reason: !isResolved ? reasonWords[reason] : deployment === null ? 'Resolved by a later run' : settledDeployment,
    changesUrl:
      issue === null || reviewedRound === null
        ? null
        : `${repositoryUrl({ owner: owner.handle, name: repository.name })}/pulls/${issue.number}/changes?from=${reviewedRound}`,
    isUnread,
    isSaved: savedAt !== null,
    isDone: doneAt !== null,
    at: viewTime(listedAt ?? 0, now),
  };
}
