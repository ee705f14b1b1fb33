import { EntitySchema } from 'typeorm';

/** A user who follows another local user. */
export interface UserFollowRow {
  followerId: string;
  followedId: string;
  createdAt: number;
}

export const userFollowSchema = new EntitySchema<UserFollowRow>({
  name: 'userFollow',
  tableName: 'user_follows',
  columns: {
    followerId: { name: 'follower_id', type: 'text', primary: true },
    followedId: { name: 'followed_id', type: 'text', primary: true },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
