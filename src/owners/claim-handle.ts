import { isUniqueViolation } from '../db/index.ts';
import type { Tx } from '../db/index.ts';
import { conflict } from '../kernel/index.ts';
import { parseHandle } from './handle-rules.ts';
import type { Handle } from './handle-rules.ts';
import { handleSchema } from './handle-schema.ts';
import type { HandleRow, OwnerKind } from './handle-schema.ts';

export interface HandleClaim {
  handle: string;
  kind: OwnerKind;
  /** UUID of the user or organisation. */
  ownerId: string;
  /** The form field that a refusal belongs to; `handle` when not given. */
  field?: string;
  /** Who claims it: a person takes back the name of an organisation that they deleted. */
  claimantId?: string;
  /** An administrator vouches that nobody is taken in: the name of a deleted owner is free. */
  takesDeleted?: boolean;
}

/**
 * Gives a handle to an owner, inside the write that inserts or changes the owner. An owner has one handle at a time;
 * only its former owner can claim a released handle, who deleted the organisation that had it, and an administrator
 * once the owner is deleted.
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
    const isReleased = known.releasedAt !== null;
    const isOwn = known.ownerId === ownerId && known.kind === kind;
    const isTheirs = kind === 'organisation' && known.releasedBy != null && known.releasedBy === claim.claimantId;
    const isFree = isOwn || isTheirs || (claim.takesDeleted === true && (await isDeleted(tx, known)));
    if (!isReleased || !isFree) throw taken(field);
    await tx.manager.update(handleSchema, { folded }, { display, kind, ownerId, releasedAt: null, releasedBy: null });
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

/** A released handle may also be the former one of an owner who has another by now. */
async function isDeleted({ manager }: Tx, { kind, ownerId }: HandleRow): Promise<boolean> {
  const table = kind === 'user' ? 'users' : 'organisations';
  const rows: unknown[] = await manager.query(`SELECT 1 FROM ${table} WHERE id = ?`, [ownerId]);
  return rows.length === 0;
}

function taken(field: string, cause?: unknown) {
  return conflict('handle_taken', 'This handle is already taken.', { field, cause });
}
