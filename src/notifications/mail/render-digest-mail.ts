import { personViewer } from '../../access/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import { layout } from '../../mail/index.ts';
import type { MailMessage, MailPart } from '../../mail/index.ts';
import { inLanguage, t } from '../../translation/index.ts';
import type { NotificationDeps } from '../deps.ts';
import { mailPartSchema } from '../schema/channel-schema.ts';
import type { MailPartRow } from '../schema/channel-schema.ts';
import type { DeploymentDetails, ReleaseDetails, RunDetails } from '../schema/notification-schema.ts';
import type { DigestMailData } from '../mailer.ts';
import type { MailUrls } from './mail-urls.ts';
import { recipientOf } from './mail-parts.ts';
import type { ReachableRecipient } from './mail-parts.ts';
import { unsubscribeToken } from './unsubscribe.ts';

/** Subjects that one digest names; all are in the inbox. */
const subjectsPerDigest = 100;

/** The digest of a day or a week: one line per subject that the user can currently read. Null if none is left. */
export async function renderDigestMail(
  deps: NotificationDeps,
  { userId, dueAt }: DigestMailData,
): Promise<MailMessage | null> {
  const recipient = await recipientOf(deps, userId);
  return recipient === null ? null : inLanguage(recipient.language, () => digestOf(deps, recipient, dueAt));
}

async function digestOf(
  deps: NotificationDeps,
  { userId, to, urls }: ReachableRecipient,
  dueAt: number,
): Promise<MailMessage | null> {
  const parts = await deps.db.read
    .createQueryBuilder(mailPartSchema, 'm')
    .where('m.user_id = :userId AND m.due_at = :dueAt', { userId, dueAt })
    .andWhere("m.digest <> 'immediately'")
    .orderBy('m.subject')
    .limit(subjectsPerDigest)
    .getMany();
  const lines: MailPart[] = [];
  for (const part of parts) {
    const line = await lineOf(deps, urls, part);
    if (line !== null) lines.push(line);
  }
  if (lines.length === 0) return null;
  const unsubscribeUrl = urls.unsubscribe(unsubscribeToken(deps, userId, { kind: 'all' }));
  const title = parts[0]!.digest === 'weekly' ? t('mails.notifications.your_week') : t('mails.notifications.your_day');
  return {
    to,
    subject: `${title}: ${t('mails.notifications.conversations', { count: lines.length })}`,
    ...layout({
      title,
      parts: lines,
      action: { text: t('mails.notifications.see_your_inbox'), url: urls.inbox },
      footer: [
        t('mails.notifications.you_chose_digests'),
        { text: t('mails.notifications.no_more_mails'), url: unsubscribeUrl },
        { text: t('mails.notifications.settings'), url: urls.settings },
      ],
    }),
    unsubscribeUrl,
  };
}

async function lineOf(deps: NotificationDeps, urls: MailUrls, part: MailPartRow): Promise<MailPart | null> {
  const { userId, repositoryId, issueId, firstPosition, reason, details, subject } = part;
  const place = (await deps.repositories.locate([repositoryId])).get(repositoryId);
  if (place === undefined) return null;
  const at = { owner: place.owner.handle, name: place.repository.name };
  const viewer = personViewer(userId, 'admin');
  const note = t(`mails.notifications.note.${reason}`);
  if (issueId === null) {
    if ((await deps.repositories.find(viewer, at.owner, at.name).catch(nullIfNotFound)) === null) return null;
    if (subject.startsWith('release:')) {
      const { tag, title } = JSON.parse(details) as ReleaseDetails;
      const text = `${at.owner}/${at.name}: ${t('mails.notifications.is_released', { name: title || tag })}`;
      return { link: { text, url: urls.release(place, tag) }, note };
    }
    const run = JSON.parse(details) as RunDetails & Partial<DeploymentDetails>;
    if (run.environment !== undefined) {
      const reviewers = await deps.ci.environments.reviewersOfRun(place.repository, run.number, run.environment);
      if (!reviewers.includes(userId)) return null;
      const text = `${at.owner}/${at.name}: ${t('mails.notifications.deployment_line', { environment: run.environment, title: run.title })}`;
      return { link: { text, url: urls.run(place, run.number) }, note };
    }
    const text = `${at.owner}/${at.name}: ${t('mails.notifications.run_failed_line', { workflow: run.workflow, title: run.title })}`;
    return { link: { text, url: urls.run(place, run.number) }, note };
  }
  const [issue] = await deps.issues.findByIds([issueId]);
  if (issue === undefined) return null;
  if ((await deps.issues.readersAmong({ repository: place.repository, issue }, [userId])).length === 0) return null;
  const text = `${at.owner}/${at.name}#${issue.number}: ${issue.title}`;
  return { link: { text, url: urls.entry(place, issue, firstPosition) }, note };
}
