import type { Accounts } from '../accounts/index.ts';
import type { Audit } from '../audit/index.ts';
import type { Backups } from '../backup/index.ts';
import type { Ci } from '../ci/index.ts';
import type { Config, Origin } from '../config/index.ts';
import type { Database, WriterConnection } from '../db/index.ts';
import type { InstanceStatistics, StorageUsage } from '../doctor/index.ts';
import type { Federation } from '../federation/index.ts';
import type { Git } from '../git/index.ts';
import type { ImageProxy } from '../image-proxy/index.ts';
import type { Pulls } from '../pulls/index.ts';
import type { Releases } from '../releases/index.ts';
import type { Issues } from '../issues/index.ts';
import type { Lfs } from '../lfs/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { ObjectStore, OpenedStore } from '../objects/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Avatars, Owners } from '../owners/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { SingleSignOn } from '../single-sign-on/index.ts';
import type { Signing } from '../signing/index.ts';
import type { CodeSearch, Search } from '../search/index.ts';
import type { ControlCommand } from '../control/index.ts';
import type { Notifications } from '../notifications/index.ts';
import type { Outbox } from '../outbox/index.ts';
import type { Mail } from '../mail/index.ts';
import type { Notices } from '../notices/index.ts';
import type { Mirrors } from '../mirrors/index.ts';
import type { Webhooks } from '../webhooks/index.ts';
import type { WorkerPool } from '../workers/index.ts';

export interface AppOptions {
  logger: Logger;
  clock?: Clock;
  random?: Random;
  /** Called when storage failed in a way that makes continuing unsafe: the program must exit. */
  onStorageFault?: (error: unknown) => void;
  /** The write connection, if it was opened while this file was being loaded. */
  writing?: WriterConnection;
  /** Where each setting comes from, for the settings page. */
  origins?: ReadonlyMap<string, Origin>;
  /** Control commands besides those that the modules provide. */
  controlCommands?: Readonly<Record<string, ControlCommand>>;
}

/** All modules, without transports. */
export interface Modules {
  config: Config;
  clock: Clock;
  logger: Logger;
  db: Database;
  outbox: Outbox;
  mail: Mail;
  owners: Owners;
  avatars: Avatars;
  accounts: Accounts;
  organisations: Organisations;
  signing: Signing;
  singleSignOn: SingleSignOn;
  git: Git;
  repositories: Repositories;
  objects: ObjectStore;
  objectStatistics: OpenedStore['statistics'];
  /** The folder of a server whose objects are in a bucket: what has not been copied yet. */
  objectFolder: ObjectStore | null;
  lfs: Lfs;
  issues: Issues;
  pulls: Pulls;
  releases: Releases;
  imageProxy: ImageProxy;
  search: Search;
  codeSearch: CodeSearch;
  federation: Federation;
  ci: Ci;
  webhooks: Webhooks;
  notices: Notices;
  notifications: Notifications;
  mirrors: Mirrors;
  backups: Backups;
  audit: Audit;
  workers: WorkerPool;
  counts(): Promise<InstanceStatistics>;
  storage: StorageUsage;
  /** Ends running work and closes the database. */
  close(): Promise<void>;
}
