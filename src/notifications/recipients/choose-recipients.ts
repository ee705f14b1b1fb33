import type { Reason } from '../schema/notification-schema.ts';
import type { WatchLevel } from '../schema/watch-schema.ts';

/** The facts that decide who is notified of an event of an issue. */
export interface RecipientFacts {
  /**
   * Users named by the event: in its text, by assignment, or by a review request. They are notified even if they have
   * unsubscribed.
   */
  named: ReadonlyMap<string, Extract<Reason, 'mention' | 'assigned' | 'review_asked'>>;
  /** Whether the event concerns all participants and watchers, not only the users it names. */
  isForAll: boolean;
  /** The acting user; null for an actor without an account here. */
  actorId: string | null;
  authorId: string | null;
  /** The author's reason, if the event concerns their work. */
  authorReason?: Extract<Reason, 'author' | 'approved' | 'merged'>;
  /** Users whose review a pull request waits for. */
  reviewers?: readonly string[];
  assignees: readonly string[];
  subscriptions: ReadonlyMap<string, boolean>;
  watches: ReadonlyMap<string, WatchLevel>;
  /** Users who have blocked the actor. */
  blockers: ReadonlySet<string>;
}

/**
 * Decides who is notified, each with their strongest reason. Excludes the actor, users who have blocked the actor, and
 * users who ignore the repository; a user who has unsubscribed is notified only of events that name them. The caller
 * checks access and channels.
 */
export function chooseRecipients(facts: RecipientFacts): Map<string, Reason> {
  const { named, isForAll, actorId, authorId, assignees, subscriptions, watches, blockers } = facts;
  const { authorReason = 'author', reviewers = [] } = facts;
  const recipients = new Map<string, Reason>();
  const add = (id: string, reason: Reason, isNamed: boolean): void => {
    if (recipients.has(id) || id === actorId || blockers.has(id) || watches.get(id) === 'ignore') return;
    if (isNamed || subscriptions.get(id) !== false) recipients.set(id, reason);
  };
  for (const [id, reason] of named) if (reason === 'mention') add(id, reason, true);
  for (const [id, reason] of named) add(id, reason, true);
  if (!isForAll) return recipients;
  if (authorId !== null && authorReason !== 'author') add(authorId, authorReason, false);
  for (const id of reviewers) add(id, 'review_asked', false);
  for (const id of assignees) add(id, 'assigned', false);
  if (authorId !== null) add(authorId, 'author', false);
  for (const [id, isOn] of subscriptions) if (isOn) add(id, 'reply', false);
  for (const [id, level] of watches) if (level === 'everything') add(id, 'watching', false);
  return recipients;
}
