import type { PackageEvent, PackageListener, PackageRow, PackageVersionRow } from '../packages/index.ts';
import { enqueueDelivery } from './enqueue-delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { webhooksFor } from './scope.ts';

/** The subject of a delivery of the event `package`: the version at the time of the event. */
export interface PackageSubject {
  /** The repository to which the package belonged. */
  repositoryId: string | null;
  action: PackageEvent['action'];
  ownerId: string;
  package: PackageRow;
  version: PackageVersionRow;
  /** Displayed name of the version. */
  shown: string;
  actorId: string | null;
}

/**
 * Listener for packages, called inside the write that publishes or deletes a version: enqueues deliveries for webhooks
 * of the repository of the package, of its owner, and of the server.
 */
export function onPackage(deps: WebhookDeps): PackageListener {
  return async (tx, { action, owner, package: row, version, tags, actorId }) => {
    const place = {
      id: row.repositoryId,
      ownerOrganisationId: owner.kind === 'organisation' ? owner.id : null,
      ownerUserId: owner.kind === 'user' ? owner.id : null,
    };
    const hooks = await webhooksFor(tx.manager, place, ['package']);
    if (hooks.length === 0) return;
    const about: PackageSubject = {
      repositoryId: row.repositoryId,
      action,
      ownerId: owner.id,
      package: row,
      // Omits metadata, which may be large and is in no payload.
      version: { ...version, metadata: '' },
      shown: tags[0] ?? version.version,
      actorId,
    };
    for (const { id } of hooks)
      await enqueueDelivery(deps, tx, { webhookId: id, event: 'package', about: JSON.stringify(about) });
  };
}
