import type { NotificationDeps } from '../deps.ts';
import type { Batch, Recipient } from '../notified-event.ts';
import type { Reason } from '../schema/notification-schema.ts';
import { watchesOf, withChannels } from './recipient-facts.ts';

/**
 * A deployment concerns the reviewers who may currently decide about it, except for those who ignore the repository.
 */
export async function deploymentRecipients(
  deps: NotificationDeps,
  { event, run, environment }: Extract<Batch, { kind: 'deployment-waits' }>,
): Promise<Recipient[]> {
  const located = (await deps.repositories.locate([event.repositoryId])).get(event.repositoryId);
  if (located === undefined) return [];
  const { repository } = located;
  const [watches, reviewers] = await Promise.all([
    watchesOf(deps, repository),
    deps.ci.environments.reviewersOfRun(repository, run, environment),
  ]);
  const asked = reviewers.filter((id) => watches.get(id) !== 'ignore');
  return withChannels(deps, new Map(asked.map((id): [string, Reason] => [id, 'review_asked'])));
}
