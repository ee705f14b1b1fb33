import type { Person } from '../accounts/index.ts';
import { ownerPayload, packagePayload, repositoryPayload, userPayload } from '../gitea-shapes/index.ts';
import type { ServerPlace } from '../gitea-shapes/index.ts';
import type { Owner } from '../owners/index.ts';
import type { Located } from '../repositories/index.ts';
import type { PackageSubject } from './on-package.ts';
import type { JsonObject } from './payloads.ts';

/** The body of a delivery of the event `package`. */
export function packageEventPayload(
  { action, package: row, version, shown }: PackageSubject,
  { owner, located, creator, sender }: PackageParties,
  settings: ServerPlace,
): JsonObject {
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
}

interface PackageParties {
  owner: Pick<Owner, 'id' | 'kind' | 'handle'>;
  /** The repository of the package; null without one. */
  located: Located | null;
  creator: Person | null;
  sender: Person | null;
}
