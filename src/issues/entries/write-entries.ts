import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { EntryHook, IssueDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import type { EntryRow } from '../schema/entry-schema.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import { authorshipOf, viaOf } from './entry.ts';
import type { Authorship, EntryDetails, EntryKind } from './entry.ts';

interface NewEntry {
  kind: EntryKind;
  body?: string;
  details?: EntryDetails;
  /** Unique per issue: an event that comes twice has one entry. */
  origin?: string;
  /** Whether it waits for a member's approval. Readers are notified after that. */
  isHeld?: boolean;
  /** Whether the issue counts as changed; not for what happens elsewhere. */
  touches?: boolean;
  via?: EntryRow['via'];
  author?: Authorship;
}

/** The entries of one write. They are announced when it is durable. */
export class EntryLog {
  readonly tx: Tx;
  readonly appended: { issueId: string; position: number }[] = [];
  /** A board on which this write moves a card by hand: its rules do not move it once more. */
  boardInHand: string | null = null;
  readonly #viewer: Viewer;
  readonly #isHeard: boolean;
  readonly #entryWritten: EntryHook;

  constructor(tx: Tx, viewer: Viewer, { announcer, entryWritten }: Pick<IssueDeps, 'announcer' | 'entryWritten'>) {
    this.tx = tx;
    this.#viewer = viewer;
    // Where nothing listens, an entry counts as announced at once.
    this.#isHeard = announcer.hasListeners;
    this.#entryWritten = entryWritten;
  }

  /** Appends to the log of an issue, and brings `issue` up to date. Refuses `too_many_entries`. */
  async append(issue: Issue, entry: NewEntry): Promise<EntryRow> {
    const { manager, now } = this.tx;
    const { kind, touches = true, isHeld = false } = entry;
    const position = kind === 'opened' ? 0 : issue.lastPosition + 1;
    if (position >= limits.entriesPerIssue)
      throw invalid('too_many_entries', `An issue has at most ${limits.entriesPerIssue} entries.`);
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
      // The announcement that follows this write is counted with it.
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
 * Runs a write that appends entries, and announces them once it is durable. Writes are one at a time, so the issue
 * that `work` reads in it is the one that it appends to.
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
