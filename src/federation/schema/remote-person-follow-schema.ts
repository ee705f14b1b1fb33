import { EntitySchema } from 'typeorm';

/** A local user follows a remote user: all their current and future public repositories (SPEC §3). */
export interface RemotePersonFollow {
  id: string;
  userId: string;
  remoteActorId: string;
  host: string;
  /** `user@host`. */
  handle: string;
  /** Their HTML page. */
  url: string | null;
  /** Number of repositories on the other server; `null` if omitted. */
  totalItems: number | null;
  createdAt: number;
  /** Time of the next scan of the list. */
  nextScanAt: number;
  /** Error of the last scan. */
  scanError: string | null;
}

/** A scanned repository: one that the user unfollowed must not come back. */
interface SeenRepository {
  userFollowId: string;
  remoteActorId: string;
}

export const remotePersonFollowSchema = new EntitySchema<RemotePersonFollow>({
  name: 'remoteUserFollow',
  tableName: 'remote_user_follows',
  columns: {
    id: { type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text' },
    remoteActorId: { name: 'remote_actor_id', type: 'text' },
    host: { type: 'text' },
    handle: { type: 'text' },
    url: { type: 'text', nullable: true },
    totalItems: { name: 'total_items', type: 'integer', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    nextScanAt: { name: 'next_scan_at', type: 'integer' },
    scanError: { name: 'scan_error', type: 'text', nullable: true },
  },
});

export const seenRepositorySchema = new EntitySchema<SeenRepository>({
  name: 'remoteUserRepository',
  tableName: 'remote_user_repositories',
  columns: {
    userFollowId: { name: 'user_follow_id', type: 'text', primary: true },
    remoteActorId: { name: 'remote_actor_id', type: 'text', primary: true },
  },
});
