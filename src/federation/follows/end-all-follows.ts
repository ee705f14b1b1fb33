import type { Tx } from '../../db/index.ts';
import { isFederationOn } from '../require-federation-on.ts';
import type { FederationDeps } from '../deps.ts';
import { dropFollow } from './follow-repository.ts';
import { remoteFollowSchema } from '../schema/remote-follow-schema.ts';

/**
 * Inside the write that deletes an account: every follow of the person is undone, so that other servers stop sending.
 * While federation is off nothing is sent, and the rows are deleted with the account.
 */
export async function endAllFollows(deps: FederationDeps, tx: Tx, personId: string): Promise<void> {
  if (!isFederationOn(deps.settings)) return;
  const follows = await tx.manager.findBy(remoteFollowSchema, { userId: personId });
  const actor = follows.length === 0 ? null : await deps.localActors.ofOwner('user', personId, tx.manager);
  if (actor === null) return;
  for (const follow of follows) await dropFollow(deps, tx, { actor }, follow);
}
