import type { Database, Tx } from '../db/index.ts';
import { claimHandle } from './claim-handle.ts';
import type { HandleClaim } from './claim-handle.ts';
import { foldHandle, parseHandle } from './handle-rules.ts';
import { listReleasedHandles } from './list-released-handles.ts';
import { freeHandle, releaseHandle, renameHandle } from './release-handle.ts';
import {
  avatarAtOf,
  idOfHandle,
  isHandleTaken,
  ownersById,
  resolveFormerHandle,
  resolveHandle,
  resolveHandles,
} from './resolve-handle.ts';

/**
 * The namespace that people and organisations share. Changes happen inside the caller's write, together with the row of
 * the owner.
 */
export function createOwners({ db }: { db: Database }) {
  return {
    parseHandle,
    fold: foldHandle,
    claim: (tx: Tx, claim: HandleClaim) => claimHandle(tx, claim),
    rename: (tx: Tx, claim: HandleClaim) => renameHandle(tx, claim),
    release: (tx: Tx, ownerId: string, releasedBy: string | null = null) => releaseHandle(tx, ownerId, releasedBy),
    free: (tx: Tx, handle: string) => freeHandle(tx, handle),
    listReleased: (ownerId?: string) => listReleasedHandles(db.read, ownerId),
    resolve: (handle: string) => resolveHandle(db, handle),
    resolveAll: (handles: Iterable<string>) => resolveHandles(db.read, handles),
    resolveFormer: (handle: string) => resolveFormerHandle(db.read, handle),
    idOfHandle: (handle: string) => idOfHandle(db.read, handle),
    isTaken: (handle: string) => isHandleTaken(db.read, handle),
    ownersById: (ids: Iterable<string>) => ownersById(db.read, ids),
    avatarAt: (ownerId: string) => avatarAtOf(db, ownerId),
  };
}

export type Owners = ReturnType<typeof createOwners>;
