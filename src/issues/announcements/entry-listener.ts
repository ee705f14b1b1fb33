import type { Tx } from '../../db/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { Entry } from '../entries/entry.ts';
import type { Issue } from '../schema/issue-schema.ts';

/** An entry that was written: a comment, or something that happened to an issue. */
export interface AnnouncedEntry {
  repository: Repository;
  /** As it is now, which may be later than the entry. */
  issue: Issue;
  /** Position 0 is the opening. */
  entry: Entry;
}

/**
 * The port through which other modules hear of entries, in the form of `PushListener`. `prepare` may be slow and may
 * run
 * again; `record` runs inside the write that also notes that this listener is done, so an entry is recorded exactly
 * once per listener whatever dies when. Each of the three has a limited time (`listenerTimeoutMs`); a listener that
 * has failed three times with an entry is not asked again, and the entry is parked until a person has it tried again.
 * Entries of one issue are announced in their order, as long as nothing fails.
 */
export interface EntryListener<Prepared = unknown> {
  /** Stable; kept in the database. */
  name: string;
  /** Null when there is nothing to record; the listener is done with the entry then. */
  prepare?(announced: AnnouncedEntry): Promise<Prepared | null>;
  record?(tx: Tx, announced: AnnouncedEntry, prepared: Prepared): Promise<void>;
  /** Called once that write is durable. */
  recorded?(announced: AnnouncedEntry, prepared: Prepared): unknown;
}
