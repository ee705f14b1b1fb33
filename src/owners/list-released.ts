import { isNotNull } from '../db/index.ts';
import type { EntityManager } from 'typeorm';

import { handleSchema } from './handle-schema.ts';
import type { OwnerKind } from './handle-schema.ts';
import { ownersById } from './resolve-handle.ts';
import type { Owner } from './resolve-handle.ts';

/** A handle that nobody has now and that is kept for whoever had it. */
export interface ReleasedHandle {
  /** As its owner wrote it. */
  handle: string;
  kind: OwnerKind;
  ownerId: string;
  /** Epoch milliseconds. */
  releasedAt: number;
  /** Who had it, under another handle now; null when they are gone, or have none. */
  owner: Owner | null;
}

/** All of them, by name; of one owner when an id is given. */
export async function listReleased(manager: EntityManager, ownerId?: string): Promise<ReleasedHandle[]> {
  const where = { releasedAt: isNotNull<number>(), ...(ownerId === undefined ? {} : { ownerId }) };
  const rows = await manager.find(handleSchema, { where, order: { folded: 'ASC' } });
  const owners = await ownersById(
    manager,
    rows.map((row) => row.ownerId),
  );
  return rows.map((row) => ({
    handle: row.display,
    kind: row.kind,
    ownerId: row.ownerId,
    releasedAt: row.releasedAt!,
    owner: owners.get(row.ownerId) ?? null,
  }));
}
