import { EntitySchema } from 'typeorm';

export const watchLevels = ['everything', 'participating', 'releases', 'ignore'] as const;
/** Notification level for a repository: everything; participation only; participation and releases; nothing. */
export type WatchLevel = (typeof watchLevels)[number];

export interface WatchRow {
  userId: string;
  repositoryId: string;
  level: WatchLevel;
  createdAt: number;
}

export const watchSchema = new EntitySchema<WatchRow>({
  name: 'watch',
  tableName: 'watches',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    level: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/** Number of users who watch everything; maintained by triggers. */
interface WatchCount {
  repositoryId: string;
  watching: number;
}

export const watchCountSchema = new EntitySchema<WatchCount>({
  name: 'watchCount',
  tableName: 'watch_counts',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    watching: { type: 'integer' },
  },
});
