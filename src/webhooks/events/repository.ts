import { ownerPayload, repositoryPayload, userPayload } from '../../gitea-shapes/index.ts';
import type { LifecycleListener } from '../../repositories/index.ts';
import type { WebhookDeps } from '../deps.ts';
import { enqueueStored, personOf } from './stored-event.ts';
import type { RenderBody } from './stored-event.ts';

/** The subject of a delivery of the event `repository`: the row and its owner at the time of the event. */
type RepositorySubject = Parameters<LifecycleListener>[1];

/**
 * Listener for new and deleted repositories, called inside the write of the event: enqueues deliveries for webhooks of
 * the repository, of its owner, and of the server.
 */
export function onLifecycle(deps: WebhookDeps): LifecycleListener {
  return (tx, event) => enqueueStored(deps, tx, event.repository, 'repository', () => event);
}

/** As in Gitea, `organization` is the owner, whether a user or an organisation. */
export const repositoryBody: RenderBody<RepositorySubject> = async (deps, { action, repository, owner, byId }) => {
  const { settings } = deps;
  return {
    action,
    repository: repositoryPayload({ repository, owner }, settings),
    organization: ownerPayload(owner, null, settings),
    sender: userPayload(await personOf(deps, byId), settings),
  };
};
