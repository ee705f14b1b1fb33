import type { AnnouncedEntry } from '../../issues/index.ts';
import type { NotificationDeps } from '../deps.ts';
import type { Recipient } from '../notified-event.ts';
import {
  assigneesOf,
  blockersOf,
  reviewComments,
  reviewersOf,
  subscriptionsOf,
  teamReviewersOf,
  watchesOf,
  withChannels,
} from './recipient-facts.ts';
import { chooseRecipients } from './choose-recipients.ts';
import type { RecipientFacts } from './choose-recipients.ts';

type Named = RecipientFacts['named'];

/** Kinds that concern all participants; other kinds only concern the users they name. */
const kindsForAll: readonly string[] = [
  'opened',
  'comment',
  'closed',
  'reopened',
  'round',
  'ready',
  'review',
  'merged',
];

/** Users concerned by an issue entry, and their channels: only those who can currently read it. */
export async function issueRecipients(deps: NotificationDeps, announced: AnnouncedEntry): Promise<Recipient[]> {
  const { repository, issue, entry } = announced;
  // Imported history and held entries notify nobody.
  if (entry.via === 'import' || issue.heldAt !== null || entry.heldAt !== null) return [];
  const isForAll = kindsForAll.includes(entry.kind) || (entry.kind === 'unqueued' && entry.details['failed'] === true);
  const named = await namedBy(deps, announced);
  if (!isForAll && named.size === 0) return [];
  const [watches, subscriptions, assignees, blockers, reviewers] = await Promise.all([
    watchesOf(deps, repository),
    subscriptionsOf(deps, issue.id, entry.position),
    assigneesOf(deps, issue.id),
    blockersOf(deps, entry.authorId),
    // Closed pull requests wait for no review.
    issue.kind === 'PULL' && issue.state === 'OPEN' ? reviewersOf(deps, issue.id) : [],
  ]);
  const recipients = chooseRecipients({
    named,
    isForAll,
    actorId: entry.authorId,
    authorId: issue.authorId,
    authorReason: authorReasonOf(entry),
    reviewers,
    assignees,
    subscriptions,
    watches,
    blockers,
  });
  const readers = await deps.issues.readersAmong({ repository, issue }, [...recipients.keys()]);
  return withChannels(deps, new Map(readers.map((id) => [id, recipients.get(id)!])));
}

function authorReasonOf({ kind, details }: AnnouncedEntry['entry']): 'author' | 'approved' | 'merged' {
  if (kind === 'merged') return 'merged';
  return kind === 'review' && details['verdict'] === 'APPROVE' ? 'approved' : 'author';
}

/**
 * Users named by an entry: assigned, asked for a review, or mentioned in its text; for an edit only newly mentioned
 * ones.
 */
async function namedBy(deps: NotificationDeps, { issue, entry, repository }: AnnouncedEntry): Promise<Named> {
  const { kind, details } = entry;
  if (kind === 'assigned') {
    const users = Array.isArray(details['users']) ? details['users'] : [];
    return new Map(users.map((id) => [String(id), 'assigned']));
  }
  if (kind === 'asked') {
    if (details['removed'] === true) return new Map();
    const asked =
      typeof details['teamId'] === 'string'
        ? await teamReviewersOf(deps, issue.id, details['teamId'])
        : [String(details['userId'])];
    return new Map(asked.map((id) => [id, 'review_asked']));
  }
  const mentioned = async (...texts: (string | null)[]) =>
    deps.issues.peopleMentioned({ authorId: entry.authorId, repository }, ...texts.map((text) => text ?? ''));
  if (kind === 'review') {
    const comments = await reviewComments(deps, String(details['reviewId']));
    const texts = [entry.body, ...comments.map(({ body }) => body)];
    return new Map((await mentioned(...texts)).map((id) => [id, 'mention']));
  }
  if (kind === 'opened' || kind === 'comment')
    return new Map((await mentioned(entry.body)).map((id) => [id, 'mention']));
  if (kind !== 'edited') return new Map();
  const position = Number(details['position']);
  const [text, before] = await Promise.all([
    deps.issues.findEntry(issue.id, position),
    deps.issues.textBefore(issue.id, { position, revision: Number(details['revision']) }),
  ]);
  if (text === null || before === null) return new Map();
  const known = new Set(await mentioned(before));
  return new Map((await mentioned(text.body)).filter((id) => !known.has(id)).map((id) => [id, 'mention']));
}
