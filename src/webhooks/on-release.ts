import type { ReleaseEvent, ReleaseListener } from '../releases/index.ts';
import { enqueueDelivery } from './enqueue-delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { webhooksFor } from './scope.ts';

/** The subject of a delivery of the event `release`: the release as it was then, because it may be gone by now. */
export interface ReleaseSubject extends Pick<ReleaseEvent, 'release' | 'files' | 'actorId'> {
  repositoryId: string;
  action: 'published' | 'updated' | 'deleted';
}

/**
 * Subscribes to releases, inside the write that changes one. One that becomes a draft is deleted for a receiver, who
 * learns nothing of drafts.
 */
export function onRelease(deps: WebhookDeps): ReleaseListener {
  return async (tx, { action, repository, release, files, actorId }) => {
    const about: ReleaseSubject = {
      repositoryId: repository.id,
      action: action === 'withdrawn' ? 'deleted' : action,
      release,
      files,
      actorId,
    };
    for (const { id } of await webhooksFor(tx.manager, repository, ['release']))
      await enqueueDelivery(deps, tx, { webhookId: id, event: 'release', about: JSON.stringify(about) });
  };
}
