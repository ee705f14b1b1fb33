import { EntitySchema } from 'typeorm';

/** An object of one repository; times are epoch milliseconds. */
export interface LfsObjectRow {
  repositoryId: string;
  /** SHA-256 of the content, in hex. */
  oid: string;
  bytes: number;
  /** Whether it is a link to an object of another repository, which takes no space of its own. */
  shared: boolean;
  /** Null for links, imports, CI tasks, and deleted accounts. */
  uploaderId: string | null;
  arrivedAt: number;
  /** When an upload or a scan last found it in use. */
  seenAt: number;
  unreferencedSince: number | null;
  /** Set during the removal of its file; such an object counts as absent. */
  removingAt: number | null;
}

export const lfsObjectSchema = new EntitySchema<LfsObjectRow>({
  name: 'lfsObject',
  tableName: 'lfs_objects',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    oid: { type: 'text', primary: true },
    bytes: { type: 'integer' },
    shared: { type: 'boolean' },
    uploaderId: { name: 'uploader_id', type: 'text', nullable: true },
    arrivedAt: { name: 'arrived_at', type: 'integer' },
    seenAt: { name: 'seen_at', type: 'integer' },
    unreferencedSince: { name: 'unreferenced_since', type: 'integer', nullable: true },
    removingAt: { name: 'removing_at', type: 'integer', nullable: true },
  },
});

/** LFS data of a repository. Triggers maintain the sums; without a row there are no objects, and LFS is on. */
export interface LfsRepositoryRow {
  repositoryId: string;
  isEnabled: boolean;
  objects: number;
  /** Sum over objects that take space of their own. */
  bytes: number;
  /** Sum over links to objects of other repositories. */
  sharedBytes: number;
  scannedAt: number | null;
  /** Why the last scan was not clean. */
  scanError: string | null;
}

export const lfsRepositorySchema = new EntitySchema<LfsRepositoryRow>({
  name: 'lfsRepository',
  tableName: 'lfs_repositories',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    isEnabled: { name: 'is_enabled', type: 'boolean' },
    objects: { type: 'integer' },
    bytes: { type: 'integer' },
    sharedBytes: { name: 'shared_bytes', type: 'integer' },
    scannedAt: { name: 'scanned_at', type: 'integer', nullable: true },
    scanError: { name: 'scan_error', type: 'text', nullable: true },
  },
});

/** A lock on a file of a repository. */
export interface LfsLockRow {
  id: string;
  repositoryId: string;
  path: string;
  /** The client's branch, as named by the client. */
  ref: string | null;
  ownerId: string;
  lockedAt: number;
}

export const lfsLockSchema = new EntitySchema<LfsLockRow>({
  name: 'lfsLock',
  tableName: 'lfs_locks',
  columns: {
    id: { type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text' },
    path: { type: 'text' },
    ref: { type: 'text', nullable: true },
    ownerId: { name: 'owner_id', type: 'text' },
    lockedAt: { name: 'locked_at', type: 'integer' },
  },
});
