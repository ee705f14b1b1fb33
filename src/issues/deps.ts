import type { Accounts } from '../accounts/index.ts';
import type { Database, Tx } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { ObjectStore } from '../objects/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Owners } from '../owners/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { EntryAnnouncer } from './announcements/entry-announcer.ts';
import type { TextIndex } from './text-index.ts';
import type { RateLimiter } from './rate-limits.ts';
import type { Issue } from './schema/issue-schema.ts';
import type { IssueModuleSettings } from './settings.ts';

/** A new text of an issue. */
interface WrittenText {
  repositoryId: string;
  body: string;
}

export type TextListener = (text: WrittenText) => void;

/** Runs after an entry, in its transaction. @param log the `EntryLog` that wrote it */
export type EntryHook = (
  log: object,
  issue: Issue,
  entry: { kind: string; details?: Record<string, unknown> },
) => Promise<void>;

/** Runs in the transaction that reopens an issue; throws to reject. */
export type ReopenCheck = (tx: Tx, issue: Issue) => Promise<void>;

/** Dependencies of the use cases of this module. */
export interface IssueDeps {
  db: Database;
  accounts: Pick<Accounts, 'personByUsername' | 'peopleById'>;
  organisations: Pick<Organisations, 'roleOf' | 'teams'>;
  owners: Pick<Owners, 'resolve' | 'resolveAll'>;
  repositories: Pick<Repositories, 'find' | 'factsOf' | 'locate'>;
  git: Pick<Git, 'objects'>;
  objects: ObjectStore;
  /**
   * A keyed digest of an exported file, by which the instance recognises its own exports and trusts the user ids in
   * them.
   */
  sealExport(sha256: string): string;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: IssueModuleSettings;
  announcer: EntryAnnouncer;
  /** Boards follow log entries. */
  entryWritten: EntryHook;
  rates: RateLimiter;
  /**
   * The texts of a Markdown document shown as text, in order: outside of code, links and comments. If it cannot be
   * rendered, its source, as on its page.
   */
  shownTexts(document: string): Promise<readonly string[]>;
  /** Index over titles and texts. */
  texts: TextIndex;
  /** Checks of other modules; registered by `pulls.refuseReopen`. */
  reopenChecks: ReopenCheck[];
  /** Called after a text was written. */
  textWritten: TextListener;
}
