import { EntitySchema } from 'typeorm';

/** A repository pinned on a user's dashboard. */
interface PinRow {
  userId: string;
  repositoryId: string;
  /** Sort order, ascending; gaps are allowed. */
  position: number;
}

export const pinSchema = new EntitySchema<PinRow>({
  name: 'pin',
  tableName: 'pins',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    position: { type: 'integer' },
  },
});
