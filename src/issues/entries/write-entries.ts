import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { EntryHook, IssueDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import type { EntryRow } from '../schema/entry-schema.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import { authorshipOf, viaOf } from '../entry.ts';
import type { Authorship, EntryDetails, EntryKind } from '../entry.ts';

interface NewEntry {
  kind: EntryKind;
  body?: string;
  details?: EntryDetails;
  /** Unique per issue: a repeated event has one entry. */
  origin?: string;
  /** Whether it is held for a member's approval. Readers are notified after that. */
  isHeld?: boolean;
  /** Whether the issue counts as changed; false for events elsewhere. */
  touches?: boolean;
  via?: EntryRow['via'];
  author?: Authorship;
}

/** The entries of one transaction, announced once it is durable. */
export class EntryLog {
  readonly tx: Tx;
  readonly appended: { issueId: string; position: number }[] = [];
  /** A board on which this transaction moves a card manually: its rules must not move the card again. */
  boardInHand: string | null = null;
  readonly #viewer: Viewer;
  readonly #isHeard: boolean;
  readonly #entryWritten: EntryHook;

  constructor(tx: Tx, viewer: Viewer, { announcer, entryWritten }: Pick<IssueDeps, 'announcer' | 'entryWritten'>) {
    this.tx = tx;
    this.#viewer = viewer;
    // Without listeners, an entry counts as announced at once.
    this.#isHeard = announcer.hasListeners;
    this.#entryWritten = entryWritten;
  }

  /** Appends to the log of an issue, and updates `issue`. Throws `too_many_entries`. */
  async append(issue: Issue, entry: NewEntry): Promise<EntryRow> {
    const { manager, now } = this.tx;
    const { kind, touches = true, isHeld = false } = entry;
    const position = kind === 'opened' ? 0 : issue.lastPosition + 1;
    if (position >= limits.entriesPerIssue)
      throw invalid('too_many_entries', `An issue can have at most ${limits.entriesPerIssue} entries.`);
    const commentCount = issue.commentCount + (kind === 'comment' && !isHeld ? 1 : 0);
    const updatedAt = touches && !isHeld ? Math.max(now, issue.updatedAt) : issue.updatedAt;
    const row: EntryRow = {
      issueId: issue.id,
      position,
      kind,
      ...(entry.author ?? authorshipOf(this.#viewer)),
      body: entry.body ?? null,
      details: JSON.stringify(entry.details ?? {}),
      via: entry.via ?? viaOf(this.#viewer),
      origin: entry.origin ?? null,
      revision: 1,
      createdAt: now,
      editedAt: null,
      deletedAt: null,
      heldAt: isHeld ? now : null,
      announcedAt: this.#isHeard || isHeld ? null : now,
      // Counts the announcement that follows this transaction.
      attempts: isHeld ? 0 : 1,
      triedAt: isHeld ? null : now,
      lastError: null,
      parkedAt: null,
    };
    await manager.insert(entrySchema, row);
    if (position > 0)
      await manager.update(issueSchema, { id: issue.id }, { lastPosition: position, commentCount, updatedAt });
    Object.assign(issue, { lastPosition: position, commentCount, updatedAt });
    if (row.announcedAt === null && !isHeld) this.appended.push({ issueId: issue.id, position });
    await this.#entryWritten(this, issue, entry);
    return row;
  }
}

/**
 * Runs a transaction that appends entries, and announces them once it is durable. Transactions are serialised, so the
 * issue that `work` reads is current when it appends.
 */
export async function writeEntries<T>(
  deps: Pick<IssueDeps, 'db' | 'announcer' | 'entryWritten'>,
  viewer: Viewer,
  work: (log: EntryLog) => Promise<T>,
): Promise<T> {
  const { result, appended } = await deps.db.write(async (tx) => {
    const log = new EntryLog(tx, viewer, deps);
    return { result: await work(log), appended: log.appended };
  });
  deps.announcer.announceAll(appended);
  return result;
}
