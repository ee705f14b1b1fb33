import { EntitySchema } from 'typeorm';

/** A fork whose folder is being made. Written before the folder, and deleted in the write that makes its repository. */
interface UnfinishedForkRow {
  /** The id that the repository will have. */
  repositoryId: string;
  ownerId: string;
  /** The node that makes it; `local` where there is one. */
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
