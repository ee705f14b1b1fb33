import { EntitySchema } from 'typeorm';

/**
 * A fork whose folder is being created. Written before the folder, and deleted in the transaction that creates its
 * repository.
 */
interface UnfinishedForkRow {
  /** The future id of the repository. */
  repositoryId: string;
  ownerId: string;
  /** The node that creates it; `local` if there is only one. */
  node: string;
  createdAt: number;
}

export const unfinishedForkSchema = new EntitySchema<UnfinishedForkRow>({
  name: 'unfinishedFork',
  tableName: 'unfinished_forks',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    ownerId: { name: 'owner_id', type: 'text' },
    node: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
