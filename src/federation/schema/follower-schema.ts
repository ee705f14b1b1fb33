import { EntitySchema } from 'typeorm';

/** A remote actor that follows a local repository. */
export interface FollowerRow {
  repositoryId: string;
  actorId: string;
  inbox: string;
  /** Host and non-default port of the inbox. */
  host: string;
  /** Id of the current Follow. */
  followId: string;
  createdAt: number;
}

export const followerSchema = new EntitySchema<FollowerRow>({
  name: 'repositoryFollower',
  tableName: 'repository_followers',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    actorId: { name: 'actor_id', type: 'text', primary: true },
    inbox: { type: 'text' },
    host: { type: 'text' },
    followId: { name: 'follow_id', type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
