import { In, IsNull } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { foldHandle, maxHandleLength } from './handle-rules.ts';
import { handleSchema } from './handle-schema.ts';
import type { HandleRow, OwnerKind } from './handle-schema.ts';

/** A user or an organisation, by its current handle. */
export interface Owner {
  kind: OwnerKind;
  /** UUID of the user or organisation. */
  id: string;
  /** As the owner wrote it; addresses that differ from it in case lead here too. */
  handle: string;
}

const toOwner = ({ kind, ownerId, display }: HandleRow): Owner => ({ kind, id: ownerId, handle: display });

/** Ids asked for in one statement; SQLite and PostgreSQL both bound the parameters of one. */
const idsPerQuery = 500;

async function findRow(manager: EntityManager, handle: string): Promise<HandleRow | null> {
  // Anything goes into a path, and no row can be longer than the rule allows.
  if (handle === '' || handle.length > maxHandleLength) return null;
  return manager.findOneBy(handleSchema, { folded: foldHandle(handle) });
}

/**
 * Finds who has a handle, whatever the case of its letters.
 * SPEC §4.4 asks for "a user first, then an organisation": the two share one
 * key in the database, so there is never a second candidate.
 */
export async function resolveHandle(manager: EntityManager, handle: string): Promise<Owner | null> {
  const row = await findRow(manager, handle);
  return row === null || row.releasedAt !== null ? null : toOwner(row);
}

/** Finds who gave up a handle and has another one now: where an old address leads. */
export async function resolveFormerHandle(manager: EntityManager, handle: string): Promise<Owner | null> {
  const row = await findRow(manager, handle);
  if (row === null || row.releasedAt === null) return null;
  const current = await manager.findOneBy(handleSchema, { ownerId: row.ownerId, releasedAt: IsNull() });
  return current === null ? null : toOwner(current);
}

/** The UUID of who has a handle or had it, also when that owner is gone: what old addresses are kept under. */
export async function idBehindHandle(manager: EntityManager, handle: string): Promise<string | null> {
  return (await findRow(manager, handle))?.ownerId ?? null;
}

/** Whether somebody has the handle or had it: either way it cannot be claimed by another. */
export async function isHandleTaken(manager: EntityManager, handle: string): Promise<boolean> {
  return (await findRow(manager, handle)) !== null;
}

/**
 * The owners with these ids. People who have no handle yet are missing from
 * the answer, as they are from every page (SPEC §2.4).
 */
export async function ownersById(manager: EntityManager, ids: Iterable<string>): Promise<Map<string, Owner>> {
  const unique = [...new Set(ids)];
  const owners = new Map<string, Owner>();
  for (let start = 0; start < unique.length; start += idsPerQuery) {
    const ownerId = In(unique.slice(start, start + idsPerQuery));
    for (const row of await manager.findBy(handleSchema, { ownerId, releasedAt: IsNull() })) {
      owners.set(row.ownerId, toOwner(row));
    }
  }
  return owners;
}
