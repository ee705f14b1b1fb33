import { EntitySchema } from 'typeorm';

/** A row of `kept_copies`: a person keeps a copy of a repository that they follow. */
export interface KeptCopyRow {
  /** The copy. */
  repositoryId: string;
  userId: string;
  /** The actor of the origin. */
  actorId: string;
  /** `owner/name@host` of the origin, and its page. */
  handle: string;
  url: string | null;
  createdAt: number;
  /** When it is removed, after it was unfollowed; null while it is followed. */
  endsAt: number | null;
}

export const keptCopySchema = new EntitySchema<KeptCopyRow>({
  name: 'keptCopy',
  tableName: 'kept_copies',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text' },
    actorId: { name: 'actor_id', type: 'text' },
    handle: { type: 'text' },
    url: { type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    endsAt: { name: 'ends_at', type: 'integer', nullable: true },
  },
});
