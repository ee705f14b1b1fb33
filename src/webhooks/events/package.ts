import { ownerPayload, packagePayload, repositoryPayload, userPayload } from '../../gitea-shapes/index.ts';
import type { PackageEvent, PackageListener, PackageRow, PackageVersionRow } from '../../packages/index.ts';
import type { WebhookDeps } from '../deps.ts';
import { enqueueStored, locate, personOf } from './stored-event.ts';
import type { RenderBody } from './stored-event.ts';

/** The subject of a delivery of the event `package`: the version at the time of the event. */
interface PackageSubject {
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
    await enqueueStored(
      deps,
      tx,
      place,
      'package',
      (): PackageSubject => ({
        repositoryId: row.repositoryId,
        action,
        ownerId: owner.id,
        package: row,
        // Omits metadata, which may be large and is in no payload.
        version: { ...version, metadata: '' },
        shown: tags[0] ?? version.version,
        actorId,
      }),
    );
  };
}

/** Null if the owner was deleted. */
export const packageBody: RenderBody<PackageSubject> = async (deps, subject) => {
  const { ownerId, repositoryId, action, package: row, version, shown, actorId } = subject;
  const { settings } = deps;
  const owner = (await deps.owners.ownersById([ownerId])).get(ownerId);
  if (owner === undefined) return null;
  const located = repositoryId === null ? null : await locate(deps, repositoryId);
  const [creator, sender] = [await personOf(deps, version.publisherId), await personOf(deps, actorId)];
  const shownOwner = ownerPayload(owner, null, settings);
  const repository = located === null ? null : repositoryPayload(located, settings);
  return {
    action,
    repository,
    package: packagePayload(
      { package: row, version, shown },
      { owner: shownOwner, creator: userPayload(creator, settings), repository },
      settings,
    ),
    organization: owner.kind === 'organisation' ? shownOwner : null,
    sender: userPayload(sender, settings),
  };
};
