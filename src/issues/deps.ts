import type { Accounts } from '../accounts/index.ts';
import type { Database, Tx } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { ObjectStore } from '../objects/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Owners } from '../owners/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { EntryAnnouncer } from './announcements/entry-announcer.ts';
import type { TextIndex } from './lists/text-index.ts';
import type { RateLimiter } from './moderation/rate-limits.ts';
import type { Issue } from './schema/issue-schema.ts';
import type { IssueModuleSettings } from './settings.ts';

/** A text of an issue as it was written. */
interface WrittenText {
  repositoryId: string;
  body: string;
}

export type TextListener = (text: WrittenText) => void;

/**
 * Runs in the write of an entry, behind it. @param log the `EntryLog` that wrote it
 */
export type EntryHook = (
  log: object,
  issue: Issue,
  entry: { kind: string; details?: Record<string, unknown> },
) => Promise<void>;

/** Runs in the write that reopens an issue; throws to refuse. */
export type ReopenCheck = (tx: Tx, issue: Issue) => Promise<void>;

/** What the use-cases of this module work with. */
export interface IssueDeps {
  db: Database;
  accounts: Pick<Accounts, 'personByUsername' | 'peopleById'>;
  organisations: Pick<Organisations, 'roleOf' | 'teams'>;
  owners: Pick<Owners, 'resolve' | 'resolveAll'>;
  repositories: Pick<Repositories, 'find' | 'factsOf' | 'locate'>;
  git: Pick<Git, 'objects'>;
  objects: ObjectStore;
  /**
   * A keyed digest of an exported file: with it the instance recognises what it has written itself, and so whose the
   * ids of people in it are.
   */
  sealExport(sha256: string): string;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: IssueModuleSettings;
  announcer: EntryAnnouncer;
  /** Boards follow what is written in logs. */
  entryWritten: EntryHook;
  rates: RateLimiter;
  /**
   * The texts of a Markdown document that a reader sees as text, in their order: outside of code, links and comments.
   * Those of one that cannot be rendered are its source, as on its page.
   */
  shownTexts(document: string): Promise<readonly string[]>;
  /** Over titles and texts. */
  texts: TextIndex;
  /** Of other modules; registered by `pulls.refuseReopen`. */
  reopenChecks: ReopenCheck[];
  /** Called after the write of a text. */
  textWritten: TextListener;
}
