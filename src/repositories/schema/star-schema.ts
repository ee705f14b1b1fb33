import { EntitySchema } from 'typeorm';

/** A repository that a user has starred. */
export interface StarRow {
  userId: string;
  repositoryId: string;
  createdAt: number;
}

export const starSchema = new EntitySchema<StarRow>({
  name: 'star',
  tableName: 'stars',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/** Number of stars of a repository; maintained by triggers. */
interface StarCountRow {
  repositoryId: string;
  stars: number;
}

export const starCountSchema = new EntitySchema<StarCountRow>({
  name: 'starCount',
  tableName: 'star_counts',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    stars: { type: 'integer' },
  },
});
