import type { ForkListener } from '../repositories/index.ts';
import { enqueueDelivery } from './enqueue-delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { webhooksFor } from './scope.ts';

/** The subject of a delivery of the event `fork`; its body is rendered when it is sent. */
export interface ForkSubject {
  repositoryId: string;
  forkId: string;
  byId: string | null;
}

/**
 * Listener for forks, called inside the write that creates one. A private fork sends no webhook, because receivers of
 * the source's webhooks may not read it.
 */
export function onFork(deps: WebhookDeps): ForkListener {
  return async (tx, { source, fork, byId }) => {
    if (fork.visibility !== 'PUBLIC') return;
    const about: ForkSubject = { repositoryId: source.id, forkId: fork.id, byId };
    for (const { id } of await webhooksFor(tx.manager, source, ['fork']))
      await enqueueDelivery(deps, tx, { webhookId: id, event: 'fork', about: JSON.stringify(about) });
  };
}
