import type { ReleaseEvent, ReleaseListener } from '../releases/index.ts';
import { enqueueDelivery } from './enqueue-delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { webhooksFor } from './scope.ts';

/**
 * The subject of a delivery of the event `release`: the release at the time of the event, because it may be deleted
 * later.
 */
export interface ReleaseSubject extends Pick<ReleaseEvent, 'release' | 'files' | 'actorId'> {
  repositoryId: string;
  action: 'published' | 'updated' | 'deleted';
}

/**
 * Listener for releases, called inside the write that changes one. A release that becomes a draft counts as deleted,
 * because receivers learn nothing of drafts.
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
