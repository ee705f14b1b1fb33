import type { EntityManager } from 'typeorm';
import { idsIn, selectRaw } from '../db/index.ts';
import type { Database } from '../db/index.ts';
import { avatarSchema } from './avatar-schema.ts';
import { foldHandle, maxHandleLength } from './handle-rules.ts';
import { handleSchema } from './handle-schema.ts';
import type { HandleRow, OwnerKind } from './handle-schema.ts';

/** A user or an organisation, with its current handle. */
export interface Owner {
  kind: OwnerKind;
  /** UUID of the user or organisation. */
  id: string;
  /** As the owner wrote it; URLs in another case resolve to it too. */
  handle: string;
  /** When the owner's avatar was stored, epoch milliseconds: the `v` of its URL. `null` without one. */
  avatarAt: number | null;
}

interface OwnerRow {
  kind: OwnerKind;
  id: string;
  handle: string;
  avatar_at: number | null;
}

const toOwner = ({ avatar_at, ...owner }: OwnerRow): Owner => ({ ...owner, avatarAt: avatar_at });

/** Owners with their avatars in one query: every list and page header shows both. */
async function currentOwners(
  manager: EntityManager,
  column: 'folded' | 'owner_id',
  values: string[],
): Promise<Owner[]> {
  if (values.length === 0) return [];
  const [among, parameters] = idsIn(`h.${column}`, values);
  const rows = await selectRaw<OwnerRow>(
    manager,
    `SELECT h.kind AS kind, h.owner_id AS id, h.display AS handle, a.updated_at AS avatar_at
     FROM handles h LEFT JOIN avatars a ON a.owner_id = h.owner_id
     WHERE h.released_at IS NULL AND ${among}`,
    parameters,
  );
  return rows.map(toOwner);
}

async function findRow(manager: EntityManager, handle: string): Promise<HandleRow | null> {
  // A path may contain anything, and no row is longer than the rule allows.
  if (handle === '' || handle.length > maxHandleLength) return null;
  return manager.findOneBy(handleSchema, { folded: foldHandle(handle) });
}

/**
 * The owner of a handle, ignoring case. SPEC §4.4 asks for "a person first, then an organisation": both share one key
 * in the database, so there is never a second candidate.
 */
export async function resolveHandle({ lookup }: Pick<Database, 'lookup'>, handle: string): Promise<Owner | null> {
  if (handle === '' || handle.length > maxHandleLength) return null;
  const [row] = await lookup(handleSchema, { folded: foldHandle(handle) });
  if (row === undefined || row.releasedAt !== null) return null;
  return { kind: row.kind, id: row.ownerId, handle: row.display, avatarAt: await avatarAtOf({ lookup }, row.ownerId) };
}

/** The owners of these handles, by the handle in lower case; unassigned handles are missing. */
export async function resolveHandles(manager: EntityManager, handles: Iterable<string>): Promise<Map<string, Owner>> {
  const possible = [...handles].filter(({ length }) => length > 0 && length <= maxHandleLength);
  const unique = [...new Set(possible.map(foldHandle))];
  const owners = await currentOwners(manager, 'folded', unique);
  return new Map(owners.map((owner) => [foldHandle(owner.handle), owner]));
}

/** When the owner's avatar was stored; null without one. */
export async function avatarAtOf({ lookup }: Pick<Database, 'lookup'>, ownerId: string): Promise<number | null> {
  return (await lookup(avatarSchema, { ownerId }))[0]?.updatedAt ?? null;
}

/** The owner who released this handle and has another one now: the target of redirects. */
export async function resolveFormerHandle(manager: EntityManager, handle: string): Promise<Owner | null> {
  const row = await findRow(manager, handle);
  if (row === null || row.releasedAt === null) return null;
  return (await ownersById(manager, [row.ownerId])).get(row.ownerId) ?? null;
}

/** The UUID of the current or former owner of a handle, deleted ones included: the key of redirects. */
export async function idOfHandle(manager: EntityManager, handle: string): Promise<string | null> {
  return (await findRow(manager, handle))?.ownerId ?? null;
}

/** Whether the handle has or had an owner: either way no other owner can claim it. */
export async function isHandleTaken(manager: EntityManager, handle: string): Promise<boolean> {
  return (await findRow(manager, handle)) !== null;
}

/** The owners with these ids. People who have no handle yet are missing (SPEC §2.4). */
export async function ownersById(manager: EntityManager, ids: Iterable<string>): Promise<Map<string, Owner>> {
  const owners = await currentOwners(manager, 'owner_id', [...new Set(ids)]);
  return new Map(owners.map((owner) => [owner.id, owner]));
}
