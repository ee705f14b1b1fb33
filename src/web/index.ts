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
import type { Nodes } from '../nodes/index.ts';
import type { Outbox } from '../outbox/index.ts';
import type { Notices } from '../notices/index.ts';
import type { Copies } from '../copies/index.ts';
import type { Imports } from '../imports/index.ts';
import type { Mirrors } from '../mirrors/index.ts';
import type { Webhooks } from '../webhooks/index.ts';
import type { WorkerPool } from '../workers/index.ts';
import type { Assets, BackgroundPriority, OneTimeSecrets, PendingForms, SshFacts } from '../http/index.ts';

/** A job with its time, and how it went the last time; null before its first time. */
export interface ListedTask {
  name: string;
  /** Six cron fields, seconds first. */
  time: string;
  last: { lastStartedAt: number; lastTookMs: number; lastError: string | null; failures: number } | null;
}

/** A text that a caller of the API wants rendered. */
export interface TextToShow {
  viewer: Viewer;
  /** This server as the caller knows it. */
  origin: string;
  /** The repository that its links are relative to; null without one. */
  found: Found | null;
  source: string;
  /** As a comment, where a line break is one; as a file in Markdown or AsciiDoc; as a page of a wiki. */
  kind: 'typed' | 'file' | 'asciidoc' | 'wiki';
  /** What its links lead to files of; null for the default branch. */
  ref: string | null;
  /** The folder that it is in; '' for the topmost one. */
  folder: string;
}

/** What `.editorconfig` says of a file; undefined where it says nothing. */
interface EditorSettings {
  endOfLine?: string | undefined;
  insertFinalNewline?: boolean | undefined;
  trimTrailingWhitespace?: boolean | undefined;
  charset?: string | undefined;
  indentStyle?: string | undefined;
  indentSize?: number | undefined;
  tabWidth?: number | undefined;
}

/** What pages make of texts, for the API. */
export interface Renderings {
  /** HTML that is safe in a page. Refuses `text_not_rendered`. */
  markup(text: TextToShow): Promise<string>;
  /** @param place path of the bare repository, and a commit id. Null where no file has settings */
  editorSettings(place: { repository: string; commit: string }, path: string): Promise<EditorSettings | null>;
}

/** All that pages may call. */
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
  /** The servers of this database. */
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
  /** Images of other hosts in documents. */
  imageProxy: ImageProxy;
  /** For metrics only; null where objects are in a folder. */
  objectStatistics(): StoreStatistics | null;
  workers: WorkerPool;
  assets: Assets;
  oneTimeSecrets: OneTimeSecrets;
  /** Forms that wait for a proof at a provider. */
  pendingForms: PendingForms;
  backgroundPriority: BackgroundPriority;
  oauth: OAuth;
  /** What people decide about requests of applications. */
  consents: Consents;
  audit: Audit;
  backups: Backups;
  /** How much of everything there is. */
  counts(): Promise<InstanceStatistics>;
  storage: StorageUsage;
  /** Where each setting comes from. */
  origins: ReadonlyMap<string, Origin>;
  /** What runs by the clock, and how it went the last time. */
  scheduledTasks(): Promise<ListedTask[]>;
  /** Starts one of them now, and does not wait for its end; false for an unknown name. */
  startTask(name: string): boolean;
  /** Null while SSH is off or not listening yet. */
  ssh(): SshFacts | null;
  /** The parts that are not ready to serve; empty means ready. */
  unready(): Promise<string[]>;
  processFacts(): Promise<ProcessFacts>;
  databaseFacts(): Promise<DatabaseFacts>;
  /** Null where no repository is in the store. */
  recoveryState(): Promise<RecoveryState | null>;
}

/** The running program. */
export interface ProcessFacts {
  version: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Memory in use, without what is mapped and unread; null where the system does not tell. */
  residentBytes: number | null;
}
