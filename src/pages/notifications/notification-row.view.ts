import type { Notification, Reason } from '../../notifications/index.ts';
import { shortRef } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { t, translated } from '../../translation/index.ts';
import { encodeRef } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';
import { viewState } from '../issues/issue-row.view.ts';
import { entryUrl } from '../app/entry-urls.ts';
import { issueUrl } from '../issues/issue-urls.ts';

interface NotificationRowView {
  id: number;
  title: string;
  /** Links to the first unread entry, or to the end of a read conversation. */
  url: string;
  state: { icon: string; tone: string; title: string };
  repository: { name: string; url: string; isPrivate: boolean };
  /** `#7`, `v1.0`, or `run 12`. */
  name: string;
  reason: string;
  /** The changes of a pull request since the user's review; null without any. */
  changesUrl: string | null;
  isUnread: boolean;
  isSaved: boolean;
  isDone: boolean;
  at: TimeView;
}

/** The reason for a notification, as text. */
export const reasonWords: Readonly<Record<Reason, string>> = translated({
  mention: 'notifications.notification_row.you_were_mentioned',
  review_asked: 'notifications.notification_row.you_were_asked_for_a_review',
  assigned: 'notifications.notification_row.assigned_to_you',
  author: 'notifications.notification_row.you_opened_this',
  reply: 'notifications.notification_row.you_participate_in_this',
  approved: 'notifications.notification_row.approved',
  merged: 'notifications.notification_row.merged',
  ci_failed: 'notifications.notification_row.your_push_failed_its_checks',
  release: 'notifications.notification_row.released',
  watching: 'notifications.notification_row.you_watch_this_repository',
});

/** The URL of the subject of a notification. */
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

const settledDeployment = 'notifications.notification_row.a_review_is_no_longer_needed';

/** Short names of branches and tags. */

export const titleOf = ({ title, run, deployment }: Pick<Notification, 'title' | 'run' | 'deployment'>): string =>
  run === null || deployment !== null
    ? title
    : t('notifications.notification_row.workflow_failed_on_ref_title', {
        workflow: run.workflow,
        ref: shortRef(run.ref),
        title: run.title,
      });

function stateOf({ issue, release, deployment, resolvedAt }: Notification): NotificationRowView['state'] {
  if (issue !== null) return viewState(issue);
  if (release !== null) return { icon: 'release', tone: 'good', title: t('notifications.notification_row.released') };
  if (deployment !== null)
    return resolvedAt === null
      ? { icon: 'clock', tone: 'off', title: t('notifications.notification_row.waits_for_a_review') }
      : { icon: 'check', tone: 'good', title: t(settledDeployment) };
  return resolvedAt === null
    ? { icon: 'cross', tone: 'bad', title: t('notifications.notification_row.failed') }
    : { icon: 'check', tone: 'good', title: t('notifications.notification_row.resolved_by_a_later_run') };
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
    name:
      issue !== null
        ? `#${issue.number}`
        : release !== null
          ? viewName(release.tag)
          : t('notifications.notification_row.run_number', { number: run!.number }),
    reason: !isResolved
      ? reasonWords[reason]
      : deployment === null
        ? t('notifications.notification_row.resolved_by_a_later_run')
        : t(settledDeployment),
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
