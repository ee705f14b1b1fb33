import type { NotificationDeps } from '../deps.ts';
import type { Batch, Recipient } from '../notified-event.ts';
import type { Reason } from '../schema/notification-schema.ts';
import { filterReaders, watchesOf, withChannels } from './recipient-facts.ts';

/**
 * A failed run concerns the user who pushed, and those who watch everything, if they can currently read the repository.
 */
export async function runRecipients(
  deps: NotificationDeps,
  { event, actorId }: Extract<Batch, { kind: 'run-failed' }>,
): Promise<Recipient[]> {
  const located = (await deps.repositories.locate([event.repositoryId])).get(event.repositoryId);
  if (located === undefined) return [];
  const watches = await watchesOf(deps, located.repository);
  const recipients = new Map<string, Reason>();
  if (actorId !== null && watches.get(actorId) !== 'ignore') recipients.set(actorId, 'ci_failed');
  for (const [id, level] of watches) if (level === 'everything' && !recipients.has(id)) recipients.set(id, 'watching');
  return withChannels(deps, await filterReaders(deps, located.repository, recipients));
}
