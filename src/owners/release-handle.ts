import { IsNull } from 'typeorm';
import type { Tx } from '../db/index.ts';
import { conflict } from '../kernel/index.ts';
import { claimHandle } from './claim-handle.ts';
import type { HandleClaim } from './claim-handle.ts';
import { foldHandle } from './handle-rules.ts';
import type { Handle } from './handle-rules.ts';
import { handleSchema } from './handle-schema.ts';

/**
 * Releases an owner's current handle. It stays reserved: a new owner could impersonate the former one.
 * @param releasedBy the person who may claim it for another organisation, because the deleted one was theirs
 */
export async function releaseHandle(tx: Tx, ownerId: string, releasedBy: string | null = null): Promise<void> {
  await tx.manager.update(handleSchema, { ownerId, releasedAt: IsNull() }, { releasedAt: tx.now, releasedBy });
}

/**
 * Changes an owner's handle; the old one stays reserved for the owner. Changing only the case of letters is a rename
 * too. Refuses as `claimHandle` does, without any change.
 */
export async function renameHandle(tx: Tx, claim: HandleClaim): Promise<Handle> {
  // In this order, because the database allows one current handle per owner; a refused claim rolls the release back.
  await releaseHandle(tx, claim.ownerId);
  return claimHandle(tx, claim);
}

/**
 * Makes a released handle available to everyone, an administrator's decision. An unknown handle is available already.
 * Refuses with `handle_in_use` while it has an owner.
 */
export async function freeHandle(tx: Tx, handle: string): Promise<void> {
  const folded = foldHandle(handle);
  const known = await tx.manager.findOneBy(handleSchema, { folded });
  if (known === null) return;
  if (known.releasedAt === null) throw conflict('handle_in_use', 'Another account now has this username.');
  await tx.manager.delete(handleSchema, { folded });
}
