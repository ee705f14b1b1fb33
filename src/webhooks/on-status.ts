import type { CommitStatus, StatusWriteListener } from '../repositories/index.ts';
import { repositoryOf } from '../repositories/index.ts';
import { enqueueDelivery } from './enqueue-delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { webhooksFor } from './scope.ts';

/**
 * The subject of a delivery of the event `status`: the status at the time of the event, because another one may replace
 * it.
 */
export interface StatusSubject {
  repositoryId: string;
  commitStatus: CommitStatus;
}

/** Listener for commit statuses, called inside the write that records one. */
export function onStatus(deps: WebhookDeps): StatusWriteListener {
  return async (tx, commitStatus) => {
    const repository = await repositoryOf(tx, commitStatus.repositoryId);
    if (repository === null) return;
    const about: StatusSubject = { repositoryId: repository.id, commitStatus };
    for (const { id } of await webhooksFor(tx.manager, repository, ['status']))
      await enqueueDelivery(deps, tx, { webhookId: id, event: 'status', about: JSON.stringify(about) });
  };
}
