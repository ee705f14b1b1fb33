import { EntitySchema } from 'typeorm';
import type { OwnerKind } from '../../owners/index.ts';

/** A repository offered to somebody who has not accepted it yet. */
export interface TransferRow {
  repositoryId: string;
  newOwnerId: string;
  newOwnerKind: OwnerKind;
  offeredBy: string;
  createdAt: number;
}

export const transferSchema = new EntitySchema<TransferRow>({
  name: 'repositoryTransfer',
  tableName: 'repository_transfers',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    newOwnerId: { name: 'new_owner_id', type: 'text' },
    newOwnerKind: { name: 'new_owner_kind', type: 'text' },
    offeredBy: { name: 'offered_by', type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/**
 * A repository whose folder is being moved between two owners. Written before the
 * folder moves and gone with the change of owner: while it is there nobody may
 * push, and after a crash the folder follows the repository's row.
 */
export interface MoveRow {
  repositoryId: string;
  /** The owner that the folder would move to. */
  toOwnerId: string;
}

export const moveSchema = new EntitySchema<MoveRow>({
  name: 'repositoryMove',
  tableName: 'repository_moves',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    toOwnerId: { name: 'to_owner_id', type: 'text' },
  },
});
