import type { Reason } from '../schema/notification-schema.ts';
import type { WatchLevel } from '../schema/watch-schema.ts';

/** What is known of the people around an issue when something happens to it. */
export interface PeopleAround {
  /**
   * Whom the event names: mentioned in its text, or assigned by it. They hear of it whatever they unsubscribed from.
   */
  named: ReadonlyMap<string, Extract<Reason, 'mention' | 'assigned'>>;
  /** Whether the event concerns all who take part or watch, not only those whom it names. */
  isForAll: boolean;
  /** Who did it; null for somebody without an account here. */
  actorId: string | null;
  authorId: string | null;
  assignees: readonly string[];
  subscriptions: ReadonlyMap<string, boolean>;
  watches: ReadonlyMap<string, WatchLevel>;
  /** People who have blocked the actor. */
  blocking: ReadonlySet<string>;
}

/**
 * Decides who is notified, and for which of their reasons: the strongest. Nobody hears of their own acts, of what
 * somebody does whom they have blocked, or of a repository that they ignore; who has unsubscribed from the issue hears
 * only of what names them. Rights and channels are asked by the caller.
 */
export function whoHears(around: PeopleAround): Map<string, Reason> {
  const { named, isForAll, actorId, authorId, assignees, subscriptions, watches, blocking } = around;
  const heard = new Map<string, Reason>();
  const add = (id: string, reason: Reason, isNamed: boolean): void => {
    if (heard.has(id) || id === actorId || blocking.has(id) || watches.get(id) === 'ignore') return;
    if (isNamed || subscriptions.get(id) !== false) heard.set(id, reason);
  };
  for (const [id, reason] of named) if (reason === 'mention') add(id, reason, true);
  for (const [id, reason] of named) add(id, reason, true);
  if (!isForAll) return heard;
  for (const id of assignees) add(id, 'assigned', false);
  if (authorId !== null) add(authorId, 'author', false);
  for (const [id, isOn] of subscriptions) if (isOn) add(id, 'reply', false);
  for (const [id, level] of watches) if (level === 'everything') add(id, 'watching', false);
  return heard;
}
