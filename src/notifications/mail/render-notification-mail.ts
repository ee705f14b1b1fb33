import { personViewer } from '../../access/index.ts';
import type { Entry, Issue, ListedEntry } from '../../issues/index.ts';
import { layout } from '../../mail/index.ts';
import type { MailMessage, MailPart } from '../../mail/index.ts';
import { nullIfNotFound, shortRef } from '../../kernel/index.ts';
import { reviewedRounds } from '../../pulls/index.ts';
import type { Located } from '../../repositories/index.ts';
import { inLanguage, t } from '../../translation/index.ts';
import type { NotificationDeps } from '../deps.ts';
import { blockersOf, reviewComments, teamsOf } from '../recipients/recipient-facts.ts';
import { mailPartSchema } from '../schema/channel-schema.ts';
import type { MailPartRow } from '../schema/channel-schema.ts';
import type { RunDetails } from '../schema/notification-schema.ts';
import { renderDeploymentMail } from './render-deployment-mail.ts';
import { renderReleaseMail } from './render-release-mail.ts';
import type { SubjectMailData } from '../mailer.ts';
import { footer, listOf, recipientOf } from './mail-parts.ts';
import type { ReachableRecipient } from './mail-parts.ts';
import { unsubscribeToken } from './unsubscribe.ts';

/** Entries shown in one mail; further ones are on the page. */
const entriesPerMail = 30;

/**
 * A mail about the events of one subject within a minute. Checks again the account, the address, read access, and
 * whether the user has unsubscribed. Null drops the mail.
 */
export async function renderNotificationMail(
  deps: NotificationDeps,
  { userId, subject, dueAt }: SubjectMailData,
): Promise<MailMessage | null> {
  const part = await deps.db.read.findOneBy(mailPartSchema, { userId, subject: subject as never, dueAt });
  const recipient = part === null ? null : await recipientOf(deps, userId);
  if (part === null || recipient === null) return null;
  return inLanguage(recipient.language, () => mailOf(deps, recipient, part));
}

async function mailOf(
  deps: NotificationDeps,
  recipient: ReachableRecipient,
  part: MailPartRow,
): Promise<MailMessage | null> {
  const { userId } = recipient;
  const place = (await deps.repositories.locate([part.repositoryId])).get(part.repositoryId);
  if (place === undefined) return null;
  if (part.issueId !== null) return issueMail(deps, recipient, part, place);
  const at = { owner: place.owner.handle, name: place.repository.name };
  const found = await deps.repositories.find(personViewer(userId, 'admin'), at.owner, at.name).catch(nullIfNotFound);
  if (found === null || found.repository.id !== part.repositoryId) return null;
  if (part.subject.startsWith('release:')) return renderReleaseMail(deps, recipient, part, place);
  if (part.subject.startsWith('deployment:')) return renderDeploymentMail(deps, recipient, part, place);
  return runMail(deps, recipient, part, place);
}

function runMail(
  deps: NotificationDeps,
  { userId, to, urls }: ReachableRecipient,
  { repositoryId, details, reason, lastPosition }: MailPartRow,
  place: Located,
): MailMessage {
  const at = { owner: place.owner.handle, name: place.repository.name };
  const run = JSON.parse(details) as RunDetails;
  const ref = shortRef(run.ref);
  const unsubscribeUrl = urls.unsubscribe(unsubscribeToken(deps, userId, { kind: 'runs' }));
  return {
    to,
    subject: `[${at.owner}/${at.name}] ${t('mails.notifications.run_failed_subject', { workflow: run.workflow, ref, title: run.title })}`,
    ...layout({
      title: t('mails.notifications.run_failed', { workflow: run.workflow, ref }),
      parts: [
        {
          facts: [
            [t('mails.notifications.repository'), `${at.owner}/${at.name}`],
            [t('mails.notifications.run'), String(run.number)],
            [t('mails.notifications.commit'), `${run.sha.slice(0, 10)} ${run.title}`],
          ],
        },
      ],
      action: { text: t('mails.notifications.see_the_run'), url: urls.run(place, run.number) },
      footer: footer(reason, urls, { text: t('mails.notifications.no_mails_of_failed_runs'), url: unsubscribeUrl }),
    }),
    thread: {
      messageId: `run-${repositoryId}.${lastPosition}@${urls.host}`,
      inReplyTo: `run-${repositoryId}@${urls.host}`,
      ...listOf(place, urls),
    },
    unsubscribeUrl,
  };
}

async function issueMail(
  deps: NotificationDeps,
  { userId, to, urls }: ReachableRecipient,
  { issueId, reason, firstPosition, lastPosition }: MailPartRow,
  place: Located,
): Promise<MailMessage | null> {
  const [issue] = await deps.issues.findByIds([issueId!]);
  if (issue === undefined || !(await isSubscribed(deps, userId, issue, reason))) return null;
  const at = { owner: place.owner.handle, name: place.repository.name, number: issue.number };
  const listed = await deps.issues
    .listEntries(personViewer(userId, 'admin'), at, {
      from: firstPosition,
      kinds: [...mailedKinds],
    })
    .catch(nullIfNotFound);
  const blockers = new Set<string>();
  const teams = await teamsOf(
    deps,
    userId,
    (listed?.entries ?? []).flatMap(({ details }) =>
      typeof details['teamId'] === 'string' ? [details['teamId']] : [],
    ),
  );
  const entries = (listed?.entries ?? [])
    .filter(({ position, authorId, deletedAt, hiddenFor, heldAt }) => {
      const isShown = deletedAt === null && hiddenFor === null && heldAt === null;
      return position <= lastPosition && authorId !== userId && isShown;
    })
    .filter((entry) => concerns(entry, userId, teams));
  for (const { authorId } of entries)
    if (authorId !== null && (await blockersOf(deps, authorId)).has(userId)) blockers.add(authorId);
  const shown = entries.filter(({ authorId }) => authorId === null || !blockers.has(authorId)).slice(0, entriesPerMail);
  const [first] = shown;
  if (first === undefined) return null;
  const people = await deps.accounts.peopleById(shown.flatMap(({ authorId }) => authorId ?? []));
  const nameOf = ({ authorId, authorName, via }: Entry): string =>
    authorId === null
      ? (authorName ?? (via === 'server' ? 'Hearth' : t('mails.notifications.a_deleted_user')))
      : (people.get(authorId)?.username ?? t('mails.notifications.a_deleted_user'));
  const parts = await Promise.all(
    shown.map((entry): Promise<MailPart> | MailPart => partOf(deps, { entry, userId, place, by: nameOf(entry) })),
  );
  const reviewedRound = shown.some(({ kind }) => kind === 'round')
    ? (await reviewedRounds(deps.db, userId, [issue.id])).get(issue.id)
    : undefined;
  if (reviewedRound !== undefined)
    parts.push({
      link: {
        text: t('mails.notifications.what_changed_since_your_review'),
        url: urls.changesSince(place, issue.number, reviewedRound),
      },
    });
  const authors = new Set(shown.map(nameOf));
  const name = `[${at.owner}/${at.name}]`;
  const unsubscribe = issue.kind === 'PULL' ? 'unsubscribe_from_pull' : 'unsubscribe_from_issue';
  const unsubscribeUrl = urls.unsubscribe(unsubscribeToken(deps, userId, { kind: 'issue', issueId: issue.id }));
  return {
    to,
    subject: `${first.position === 0 ? '' : 'Re: '}${name} ${issue.title} (#${issue.number})`,
    ...(authors.size === 1 && first.authorId !== null ? { by: nameOf(first) } : {}),
    ...layout({
      title: `${issue.title} #${issue.number}`,
      parts,
      action: { text: t('mails.notifications.see_it'), url: urls.entry(place, issue, first.position) },
      footer: footer(reason, urls, { text: t(`mails.notifications.${unsubscribe}`), url: unsubscribeUrl }),
    }),
    thread: {
      messageId: `${issue.id}.${first.position}@${urls.host}`,
      ...(first.position > 0 && { inReplyTo: `${issue.id}.0@${urls.host}` }),
      ...listOf(place, urls),
    },
    unsubscribeUrl,
  };
}

const mailedKinds = [
  'opened',
  'comment',
  'closed',
  'reopened',
  'assigned',
  'round',
  'ready',
  'review',
  'asked',
  'merged',
  'unqueued',
] as const;

/** Assignments and review requests are sent only to the users concerned. @param teams of the recipient */
function concerns({ kind, details }: Entry, userId: string, teams: ReadonlySet<string>): boolean {
  if (kind === 'assigned') return Array.isArray(details['users']) && details['users'].includes(userId);
  if (kind === 'unqueued') return details['failed'] === true;
  if (kind !== 'asked') return true;
  const isAsked = details['userId'] === userId || teams.has(String(details['teamId']));
  return isAsked && details['removed'] !== true;
}

/** Whether to still notify the user of the issue: they may have unsubscribed since it was queued. */
async function isSubscribed(
  deps: NotificationDeps,
  userId: string,
  issue: Issue,
  reason: MailPartRow['reason'],
): Promise<boolean> {
  if (reason === 'mention' || reason === 'assigned' || reason === 'review_asked') return true;
  const rows: { is_on: unknown }[] = await deps.db.read.query(
    'SELECT is_on FROM subscriptions WHERE issue_id = ? AND user_id = ?',
    [issue.id, userId],
  );
  return rows.length === 0 || Number(rows[0]!.is_on) === 1;
}

/** Entries whose sentence already ends with punctuation. */
const acts = new Set<Entry['kind']>(['closed', 'reopened', 'assigned', 'ready', 'asked']);

const verdicts = new Set(['approve', 'request_changes', 'comment']);

/** Describes a user's action, without a full stop. */
function actOf({ kind, details }: Entry, by: string): string {
  switch (kind) {
    case 'opened':
      return t('mails.notifications.act.opened', { by });
    case 'round': {
      const [round, count] = [Number(details['round']), Number(details['commits'])];
      return Number.isInteger(count) && count > 0
        ? t('mails.notifications.act.round_of_commits', { by, round, count })
        : t('mails.notifications.act.round', { by, round });
    }
    case 'merged':
      return typeof details['base'] === 'string'
        ? t('mails.notifications.act.merged', { by, base: details['base'] })
        : t('mails.notifications.act.merged_into_base', { by });
    case 'unqueued':
      return t('mails.notifications.act.unqueued', { by, reason: String(details['reason'] ?? '').replace(/\.$/, '') });
    case 'review': {
      const verdict = String(details['verdict']).toLowerCase();
      return t(`mails.notifications.act.${verdicts.has(verdict) ? verdict : 'comment'}`, { by });
    }
    default:
      return t('mails.notifications.act.wrote', { by });
  }
}

async function partOf(
  deps: NotificationDeps,
  { entry, userId, place, by }: { entry: ListedEntry; userId: string; place: Located; by: string },
): Promise<MailPart> {
  // The recipient is in the team.
  if (entry.kind === 'asked' && entry.team !== null)
    return t('mails.notifications.act.asked_team', { by, team: `${entry.team.organisation}/${entry.team.team}` });
  if (acts.has(entry.kind)) return t(`mails.notifications.act.${entry.kind}`, { by });
  const words = actOf(entry, by);
  const body = [entry.body ?? '', ...(await reviewedLines(deps, entry))]
    .filter((text) => text.trim() !== '')
    .join('\n\n');
  if (body.trim() === '') return `${words}.`;
  const html = await deps.renderers
    .markdown?.({ viewer: personViewer(userId, 'admin'), place, body })
    .catch(() => null);
  return html ? { text: body, html, by: words } : { quote: body, by: words };
}

/** The line comments of a review; empty for other entries. */
async function reviewedLines(deps: NotificationDeps, { kind, details }: Entry): Promise<string[]> {
  if (kind !== 'review' || typeof details['reviewId'] !== 'string') return [];
  const comments = await reviewComments(deps, details['reviewId']);
  return comments.map(({ path, line, body }) => `${path === null ? '' : placeOf(path, line)}\n\n${body}`.trim());
}

const placeOf = (path: string, line: number | null): string =>
  line === null ? `\`${path}\`:` : t('mails.notifications.line', { path: `\`${path}\``, line });
