import type { OwnerGroup } from '../../access/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import type { PullRow } from '../schema/pull-schema.ts';

/** The groups of owners of the files that the last round changes. */
export async function ownerGroups(
  _deps: PullDeps,
  _path: string,
  _repository: Repository,
  _pull: PullRow,
): Promise<OwnerGroup[]> {
  return [];
}
