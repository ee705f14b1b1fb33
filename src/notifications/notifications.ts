import type { Viewer } from '../access/index.ts';
import { bindDeps } from '../kernel/index.ts';
import type { RepositoryAddress } from '../repositories/index.ts';
import { makeFeed, readFeed, removeFeed } from './channels/feed.ts';
import { changeChannelSettings, channelSettings } from './channels/settings.ts';
import type { NotificationDeps, Renderers } from './deps.ts';
import { BatchDrain } from './fan-out/batches.ts';
import { onDeploymentReview } from './fan-out/on-deployment-review.ts';
import { onEntry } from './fan-out/on-entry.ts';
import { onRelease } from './fan-out/on-release.ts';
import { endOfRun, onRunFinished } from './fan-out/on-run-finished.ts';
import { listAccessNews, onAccessGiven, readAccessNews } from './inbox/access-news.ts';
import { changeNotifications, undoChange } from './inbox/change-notifications.ts';
import { createUnreadCounter } from './inbox/count-unread.ts';
import { findNotification, markSeen } from './inbox/find-notification.ts';
import { listNotifications } from './inbox/list-notifications.ts';
import { createMailer } from './mail/create-mailer.ts';
import { digestMail, noMailer, subjectMail } from './mailer.ts';
import type { DigestMailData, MailPort, SubjectMailData } from './mailer.ts';
import { renderDigestMail } from './mail/render-digest-mail.ts';
import { renderNotificationMail } from './mail/render-notification-mail.ts';
import { deploymentSubject } from './schema/notification-schema.ts';
import { readUnsubscribeToken, unsubscribe } from './mail/unsubscribe.ts';
import { pruneNotifications } from './prune-notifications.ts';
import type { WatchLevel } from './schema/watch-schema.ts';
import { listWatchers, watchersOf, listWatches, setWatching, watchingOf } from './watching/watches.ts';

export interface NotificationOptions extends Omit<NotificationDeps, 'mailer' | 'renderers'> {
  /** Without it no mail is sent. */
  mail?: MailPort;
}

/** Watching, the inbox, and the channels of notifications; the functions behind these names document their errors. */
export function createNotifications({ mail, ...tools }: NotificationOptions) {
  const mailer = mail === undefined ? noMailer : createMailer(mail);
  const renderers: Renderers = { markdown: null };
  const deps: NotificationDeps = { ...tools, mailer, renderers };
  mail?.define<SubjectMailData>(subjectMail, (data) => renderNotificationMail(deps, data));
  mail?.define<DigestMailData>(
    digestMail,
    (data) => renderDigestMail(deps, data),
    'Notifications by mail, at once or as a digest. Without mail, people have their inbox and its feed.',
  );
  const batchDrain = new BatchDrain(deps);
  const bind = bindDeps(deps);
  return {
    list: bind(listNotifications),
    find: bind(findNotification),
    change: bind(changeNotifications),
    undo: bind(undoChange),
    listAccessNews: bind(listAccessNews),
    readAccessNews: bind(readAccessNews),
    /** For the header of every page. */
    countUnread: createUnreadCounter(deps),
    /** Called when a page has shown an issue up to a position. */
    markIssueSeen: (viewer: Viewer, issueId: string, upTo: number): Promise<void> =>
      markSeen(deps, viewer, { subject: `issue:${issueId}`, upTo }),
    /** Called when a page has shown a run, which also covers earlier failures. */
    markRunSeen: (viewer: Viewer, repositoryId: string, number: number): Promise<void> =>
      markSeen(deps, viewer, { subject: `run:${repositoryId}`, upTo: endOfRun(number) }),

    /** Called when a page has shown waiting deployments of a run. */
    async markDeploymentsSeen(
      viewer: Viewer,
      repositoryId: string,
      run: number,
      environments: readonly string[],
    ): Promise<void> {
      for (const environment of environments)
        await markSeen(deps, viewer, {
          subject: deploymentSubject(repositoryId, run, environment),
          upTo: Number.MAX_SAFE_INTEGER,
        });
    },

    /** Called when a page has shown a release. */
    markReleaseSeen: (viewer: Viewer, releaseId: string): Promise<void> =>
      markSeen(deps, viewer, { subject: `release:${releaseId}`, upTo: Number.MAX_SAFE_INTEGER }),

    watchingOf: bind(watchingOf),
    setWatching: (viewer: Viewer, at: RepositoryAddress, level: WatchLevel | null): Promise<void> =>
      setWatching(deps, viewer, at, level),
    listWatches: bind(listWatches),
    listWatchers: bind(listWatchers),
    /** Number of users who watch everything. For readers of the repository. */
    watchersOf: bind(watchersOf),

    settingsOf: bind(channelSettings),
    changeSettings: bind(changeChannelSettings),
    makeFeed: bind(makeFeed),
    removeFeed: bind(removeFeed),
    readFeed: bind(readFeed),
    /** Whether mails are sent at all. */
    sendsMail: mailer.isOn,
    /** Registers the renderer of mail texts. */
    renderMarkdownBy: (render: NonNullable<Renderers['markdown']>): void => void (renderers.markdown = render),
    readUnsubscribeToken: bind(readUnsubscribeToken),
    unsubscribe: bind(unsubscribe),

    /** For `accounts.onSecurityEvent`. */
    onAccessGiven,
    /** For `issues.onEntry`. */
    onEntry: onEntry(deps, batchDrain),
    /** For `ci.onRunEnd`. */
    onRunEnd: onRunFinished(batchDrain),
    /** For `ci.onReviewRequest`. */
    onDeploymentReview: onDeploymentReview(batchDrain),
    /** For `releases.onEvent`. */
    onRelease: onRelease(batchDrain),
    /** For a scheduled task, and after the start: processes batches left by an earlier run. */
    tell: () => batchDrain.drainAll(),
    /** For a scheduled task. */
    removeOld: bind(pruneNotifications),
    stop: () => batchDrain.stop(),
  };
}

export type Notifications = ReturnType<typeof createNotifications>;
