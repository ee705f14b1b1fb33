import { isUniqueViolation } from '../db/index.ts';
import type { Tx } from '../db/index.ts';
import { conflict } from '../kernel/index.ts';
import { parseHandle } from './handle-rules.ts';
import type { Handle } from './handle-rules.ts';
import { handleSchema } from './handle-schema.ts';
import type { OwnerKind } from './handle-schema.ts';

export interface HandleClaim {
  handle: string;
  kind: OwnerKind;
  /** UUID of the user or organisation. */
  ownerId: string;
  /** The form field that a refusal belongs to; `handle` when not given. */
  field?: string;
}

/**
 * Gives a handle to an owner, inside the write that inserts or changes the owner. An owner has one handle at a time;
 * only its former owner can claim a released handle.
 *
 * Refuses: `invalid_handle`, `reserved_handle`; `handle_taken` when a person or an organisation has it or had it (SPEC
 * §4.4).
 */
export async function claimHandle(tx: Tx, claim: HandleClaim): Promise<Handle> {
  const { kind, ownerId, field = 'handle' } = claim;
  const handle = parseHandle(claim.handle, field);
  const { display, folded } = handle;

  const known = await tx.manager.findOneBy(handleSchema, { folded });
  if (known !== null) {
    const comesBack = known.releasedAt !== null && known.ownerId === ownerId && known.kind === kind;
    if (!comesBack) throw taken(field);
    await tx.manager.update(handleSchema, { folded }, { display, releasedAt: null });
    return handle;
  }
  try {
    await tx.manager.insert(handleSchema, { folded, display, kind, ownerId, releasedAt: null });
  } catch (error) {
    // The query above is the usual check; the primary key decides between concurrent claims.
    if (isUniqueViolation(error, 'handles_pkey')) throw taken(field, error);
    throw error;
  }
  return handle;
}

function taken(field: string, cause?: unknown) {
  return conflict('handle_taken', 'This handle is already taken.', { field, cause });
}
