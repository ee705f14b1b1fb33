import { isNotNull } from '../db/index.ts';
import type { EntityManager } from 'typeorm';

import { handleSchema } from './handle-schema.ts';
import type { OwnerKind } from './handle-schema.ts';
import { ownersById } from './resolve-handle.ts';
import type { Owner } from './resolve-handle.ts';

/** A released handle, reserved for its former owner. */
export interface ReleasedHandle {
  /** As its owner wrote it. */
  handle: string;
  kind: OwnerKind;
  ownerId: string;
  /** Epoch milliseconds. */
  releasedAt: number;
  /** The former owner under the current handle; null when they are deleted, or have none. */
  owner: Owner | null;
}

/** All released handles, by name; with an id, those of one owner. */
export async function listReleasedHandles(manager: EntityManager, ownerId?: string): Promise<ReleasedHandle[]> {
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
