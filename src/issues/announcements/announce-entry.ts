import { IsNull } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { announce } from '../../announcements/index.ts';
import type { AnnounceDeps, EventPlace, Listener } from '../../announcements/index.ts';
import { isTrashed } from '../../repositories/index.ts';
import type { Repositories, Repository } from '../../repositories/index.ts';
import { toEntry } from '../entry.ts';
import type { Entry } from '../entry.ts';
import { entryAnnouncementSchema, entryListenerAttemptsSchema, entrySchema } from '../schema/entry-schema.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';

/** A new entry: a comment, or an event of an issue. */
export interface AnnouncedEntry {
  repository: Repository;
  /** Its current state, which may be newer than the entry. */
  issue: Issue;
  /** Position 0 is the opening. */
  entry: Entry;
}

/**
 * Port through which other modules subscribe to entries. Entries of one issue are announced in order, unless one fails.
 */
export type EntryListener<Prepared = unknown> = Listener<AnnouncedEntry, Prepared>;

/** Key of the entry. */
export interface EntryPosition {
  issueId: string;
  position: number;
}

export interface EntryAnnouncementDeps extends AnnounceDeps {
  repositories: Pick<Repositories, 'locate'>;
}

const tables = { events: entrySchema, marks: entryAnnouncementSchema, attempts: entryListenerAttemptsSchema };
const logNames = {
  listenerFailed: 'issue.listener_failed',
  parked: 'issue.entry_parked',
  repositoryMoved: 'issue.repository_moved',
};

/** Condition that selects an entry in the announcement tables. */
export function placeOfEntry({ issueId, position }: EntryPosition): EventPlace {
  const key = { issueId, position };
  return { tables, row: key, key };
}

/**
 * Announces an entry that is neither announced nor parked nor held.
 * @param isAttemptCounted whether the transaction that appended the entry already counted this announcement
 */
export async function announceEntry(
  deps: EntryAnnouncementDeps,
  listeners: readonly EntryListener[],
  { issueId, position }: EntryPosition,
  isAttemptCounted: boolean,
): Promise<void> {
  const open = { announcedAt: IsNull(), parkedAt: IsNull(), heldAt: IsNull() };
  const row = await deps.db.read.findOneBy(entrySchema, { issueId, position, ...open });
  const issue = row === null ? null : await deps.db.read.findOneBy(issueSchema, { id: issueId });
  if (row === null || issue === null) return;
  const locate = async () => (await deps.repositories.locate([issue.repositoryId])).get(issue.repositoryId)?.repository;
  const repository = await locate();
  // In the trash: announced after the restore.
  if (repository === undefined) return;
  const subject = {
    ...placeOfEntry({ issueId, position }),
    event: { repository, issue, entry: toEntry(row) },
    logNames,
    async hasRepositoryMoved() {
      const now = await locate();
      return now?.ownerUserId !== repository.ownerUserId || now.ownerOrganisationId !== repository.ownerOrganisationId;
    },
    isInTrash: (source: EntityManager) => isTrashed(source, repository.id),
  };
  await announce(deps, subject, listeners, { attempts: row.attempts, isAttemptCounted });
}
