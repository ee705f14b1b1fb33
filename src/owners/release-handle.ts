import { IsNull } from 'typeorm';
import type { Tx } from '../db/index.ts';
import { conflict } from '../kernel/index.ts';
import { claimHandle } from './claim-handle.ts';
import type { HandleClaim } from './claim-handle.ts';
import { foldHandle } from './handle-rules.ts';
import type { Handle } from './handle-rules.ts';
import { handleSchema } from './handle-schema.ts';

/**
 * Takes the current handle from an owner. It stays reserved: a stranger who got
 * it could pass for the one who had it before.
 */
export async function releaseHandle(tx: Tx, ownerId: string): Promise<void> {
  await tx.manager.update(handleSchema, { ownerId, releasedAt: IsNull() }, { releasedAt: tx.now });
}

/**
 * Moves an owner to another handle; the old one stays reserved for the owner.
 * Changing only the case of letters is a rename too.
 * Refuses as `claimHandle` does, and then nothing has changed.
 */
export async function renameHandle(tx: Tx, claim: HandleClaim): Promise<Handle> {
  // In this order, because the database holds one current handle per owner;
  // a refused claim ends the whole write and so undoes the release.
  await releaseHandle(tx, claim.ownerId);
  return claimHandle(tx, claim);
}

/**
 * Makes a released handle free for everybody: an administrator's decision.
 * A handle that nobody has or had is free already.
 * Refuses with `handle_in_use` while somebody has it.
 */
export async function freeHandle(tx: Tx, handle: string): Promise<void> {
  const folded = foldHandle(handle);
  const known = await tx.manager.findOneBy(handleSchema, { folded });
  if (known === null) return;
  if (known.releasedAt === null) throw conflict('handle_in_use', 'Somebody has this handle now.');
  await tx.manager.delete(handleSchema, { folded });
}
