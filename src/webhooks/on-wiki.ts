import { personIdOf } from '../access/index.ts';
import type { WikiListener, WikiPageChange } from '../repositories/index.ts';
import { enqueueDelivery } from './enqueue-delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { webhooksFor } from './scope.ts';

/** The subject of a delivery of the event `gollum`: the pages changed at the time of the event. */
export interface WikiSubject {
  repositoryId: string;
  pages: WikiPageChange[];
  commit: string;
  message: string;
  actorId: string | null;
}

/** Listener for wiki changes; one delivery contains all changed pages. */
export function onWiki(deps: WebhookDeps): WikiListener {
  return ({ found, viewer, pages, commit, message }) =>
    deps.db.write(async (tx) => {
      const about: WikiSubject = {
        repositoryId: found.repository.id,
        pages: [...pages],
        commit,
        message,
        actorId: personIdOf(viewer),
      };
      for (const { id } of await webhooksFor(tx.manager, found.repository, ['gollum']))
        await enqueueDelivery(deps, tx, { webhookId: id, event: 'gollum', about: JSON.stringify(about) });
    });
}
