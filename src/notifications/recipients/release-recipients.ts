import type { NotificationDeps } from '../deps.ts';
import type { Batch, Recipient } from '../notified-event.ts';
import type { Reason } from '../schema/notification-schema.ts';
import { blockersOf, filterReaders, watchesOf, withChannels } from './recipient-facts.ts';

/** A release concerns users who watch everything or releases, and can currently read the repository. */
export async function releaseRecipients(
  deps: NotificationDeps,
  { event, actorId }: Extract<Batch, { kind: 'released' }>,
): Promise<Recipient[]> {
  const located = (await deps.repositories.locate([event.repositoryId])).get(event.repositoryId);
  if (located === undefined) return [];
  const [watches, blockers] = await Promise.all([watchesOf(deps, located.repository), blockersOf(deps, actorId)]);
  const recipients = new Map<string, Reason>();
  for (const [id, level] of watches) {
    const concerns = level === 'everything' || level === 'releases';
    if (concerns && id !== actorId && !blockers.has(id)) recipients.set(id, 'release');
  }
  return withChannels(deps, await filterReaders(deps, located.repository, recipients));
}
