import type { Viewer } from '../access/index.ts';
import type { Accounts } from '../accounts/index.ts';
import type { Ci } from '../ci/index.ts';
import type { Audit } from '../audit/index.ts';
import type { Backups } from '../backup/index.ts';
import type { Config, Origin } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import type { DatabaseFacts, InstanceStatistics, RecoveryState, StorageUsage } from '../doctor/index.ts';
import type { Federation } from '../federation/index.ts';
import type { Git } from '../git/index.ts';
import type { Highlighting } from '../highlighting/index.ts';
import type { ImageProxy } from '../image-proxy/index.ts';
import type { Packages } from '../packages/index.ts';
import type { Pulls } from '../pulls/index.ts';
import type { Releases } from '../releases/index.ts';
import type { Issues } from '../issues/index.ts';
import type { Clock } from '../kernel/index.ts';
import type { Lfs } from '../lfs/index.ts';
import type { Notifications } from '../notifications/index.ts';
import type { StoreStatistics } from '../objects/index.ts';
import type { Consents, OAuth } from '../oauth/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Avatars, Owners } from '../owners/index.ts';
import type { Found, Repositories } from '../repositories/index.ts';
import type { CodeSearch, Search } from '../search/index.ts';
import type { InstanceKey } from '../sealing/index.ts';
import type { SingleSignOn } from '../single-sign-on/index.ts';
import type { Signing } from '../signing/index.ts';
import type { Mail } from '../mail/index.ts';
import type { Leases, Nodes } from '../nodes/index.ts';
import type { CacheStatistics } from '../repository-store/index.ts';
import type { Outbox } from '../outbox/index.ts';
import type { Notices } from '../notices/index.ts';
import type { Copies } from '../copies/index.ts';
import type { Imports } from '../imports/index.ts';
import type { Mirrors } from '../mirrors/index.ts';
import type { Webhooks } from '../webhooks/index.ts';
import type { WorkerPool } from '../workers/index.ts';
import type { Assets, BackgroundPriority, OneTimeSecrets, PendingForms, SshFacts } from '../http/index.ts';

/** A scheduled job with the result of its last run; null before its first run. */
export interface ListedTask {
  name: string;
  /** Six cron fields, seconds first. */
  time: string;
  last: { lastStartedAt: number; lastTookMs: number; lastError: string | null; failures: number } | null;
}

/** A text that an API client wants rendered. */
export interface TextToShow {
  viewer: Viewer;
  /** Origin of this server as the caller knows it. */
  origin: string;
  /** The repository that its links are relative to; null without one. */
  found: Found | null;
  source: string;
  /** A comment, where line breaks are kept; a file in Markdown or AsciiDoc; or a wiki page. */
  kind: 'typed' | 'file' | 'asciidoc' | 'wiki';
  /** The ref that its links resolve to; null for the default branch. */
  ref: string | null;
  /** The folder of the file; '' for the root. */
  folder: string;
}

/** The `.editorconfig` settings of a file; undefined where unset. */
interface EditorSettings {
  endOfLine?: string | undefined;
  insertFinalNewline?: boolean | undefined;
  trimTrailingWhitespace?: boolean | undefined;
  charset?: string | undefined;
  indentStyle?: string | undefined;
  indentSize?: number | undefined;
  tabWidth?: number | undefined;
}

/** The text renderers of pages, for the API. */
export interface Renderings {
  /** HTML that is safe in a page. Throws `text_not_rendered`. */
  markup(text: TextToShow): Promise<string>;
  /** Null if no setting applies. @param place path of the bare repository, and a commit id */
  editorSettings(place: { repository: string; commit: string }, path: string): Promise<EditorSettings | null>;
}

/** All modules that pages may call. */
export interface WebDeps {
  /** For page validators and metrics only; pages read through the modules. */
  db: Pick<Database, 'state' | 'writeWaits'>;
  config: Config;
  clock: Clock;
  accounts: Accounts;
  owners: Owners;
  avatars: Avatars;
  organisations: Organisations;
  signing: Signing;
  singleSignOn: SingleSignOn;
  repositories: Repositories;
  federation: Federation;
  ci: Ci;
  issues: Issues;
  lfs: Lfs;
  packages: Packages;
  instanceKey(purpose: string): InstanceKey;
  pulls: Pulls;
  releases: Releases;
  webhooks: Webhooks;
  mail: Mail;
  notices: Notices;
  /** For metrics only. */
  outbox: Pick<Outbox, 'metrics'>;
  /** The servers that share this database. */
  nodes: Pick<Nodes, 'isShared' | 'list'>;
  notifications: Notifications;
  mirrors: Mirrors;
  imports: Imports;
  copies: Copies;
  git: Git;
  search: Search;
  codeSearch: CodeSearch;
  highlighting: Highlighting;
  renderings: Renderings;
  /** Proxy for images of other hosts in documents. */
  imageProxy: ImageProxy;
  /** For metrics only; null where objects are in a folder. */
  objectStatistics(): StoreStatistics | null;
  /** For metrics only; null where no repository is in the store. */
  repositoryCache(): CacheStatistics | null;
  /** For metrics only. */
  leases: Pick<Leases, 'held'>;
  workers: WorkerPool;
  assets: Assets;
  oneTimeSecrets: OneTimeSecrets;
  /** Forms that wait for a confirmation at a provider. */
  pendingForms: PendingForms;
  backgroundPriority: BackgroundPriority;
  oauth: OAuth;
  /** The decisions of users about requests of applications. */
  consents: Consents;
  audit: Audit;
  backups: Backups;
  /** Counts for the whole instance. */
  counts(): Promise<InstanceStatistics>;
  storage: StorageUsage;
  /** The source of each setting. */
  origins: ReadonlyMap<string, Origin>;
  /** The scheduled jobs with the results of their last runs. */
  scheduledTasks(): Promise<ListedTask[]>;
  /** Starts one of them without waiting for its end; false for an unknown name. */
  startTask(name: string): boolean;
  /** Null while SSH is off or not listening yet. */
  ssh(): SshFacts | null;
  /** The parts that are not ready to serve; empty means ready. */
  unready(): Promise<string[]>;
  processFacts(): Promise<ProcessFacts>;
  databaseFacts(): Promise<DatabaseFacts>;
  /** Null where no repository is in the store. */
  recovery: { state(): Promise<RecoveryState> } | null;
}

/** The running program. */
export interface ProcessFacts {
  version: string;
  /** Memory in use, without mapped but unread pages; null where the system does not report it. */
  startedAt: number;
  /** Memory in use, without mapped but unread pages; null where the system does not report it. */
  residentBytes: number | null;
}
