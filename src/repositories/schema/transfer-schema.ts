import { EntitySchema } from 'typeorm';
import type { OwnerKind } from '../../owners/index.ts';

/** A repository offered to a new owner who has not accepted yet. */
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
 * A repository whose folder is being moved between two owners. Written before the folder moves and deleted with the
 * change of owner: until then pushes are refused, and after a crash the folder is moved to where the repository's row
 * says.
 */
interface MoveRow {
  repositoryId: string;
  /** The new owner of the folder. */
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
