import type { InstanceStatistics, StorageUsage } from '../doctor/index.ts';
import type { Part } from './lifecycle.ts';
import type { Connections } from './open-connections.ts';
import type { People } from './open-people.ts';
import type { Code } from './open-repositories.ts';
import type { CacheStatistics } from '../repository-store/index.ts';
import type { Storage } from './open-storage.ts';
import type { RecoveryDrill } from './recovery-drill.ts';

/** All modules, without transports. */
export interface Modules extends Omit<Storage, 'issueIndex' | 'closeObjects'>, People, Code, Connections {
  /** The parts with a lifecycle, in start order. */
  parts: readonly Part[];
  counts(): Promise<InstanceStatistics>;
  /** Null where no repository is in the store. */
  recovery: RecoveryDrill | null;
  /** Folders of repositories in the store; null where none is there. */
  repositoryCache: () => CacheStatistics | null;
  storage: StorageUsage;
  /** Ends running work and closes the database. */
  close(): Promise<void>;
}
