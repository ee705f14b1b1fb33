import { isLocalAdministrator } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { EntryRow, EntryVia } from './schema/entry-schema.ts';

/** Content of an entry. */
export type EntryKind =
  | 'opened'
  | 'comment'
  | 'closed'
  | 'reopened'
  | 'titled'
  | 'labelled'
  | 'unlabelled'
  | 'assigned'
  | 'unassigned'
  | 'milestoned'
  | 'mentioned'
  | 'linked'
  | 'unlinked'
  | 'locked'
  | 'unlocked'
  | 'pinned'
  | 'unpinned'
  | 'moved'
  | 'board_added'
  | 'board_moved'
  | 'board_removed'
  | PullEntryKind
  | SilentKind;

/** Kinds that only pull requests have. */
export type PullEntryKind =
  | 'round'
  | 'retargeted'
  | 'draft'
  | 'ready'
  | 'review'
  | 'dismissed'
  | 'asked'
  | 'merge_when_ready'
  | 'queued'
  | 'unqueued'
  | 'merged'
  | 'branch_deleted'
  | 'branch_restored'
  | 'applied';

/**
 * Kinds that listeners receive and the timeline omits, because the changed entry shows it. `edited` and `emptied` name
 * a text by `details.position`.
 */
type SilentKind = 'edited' | 'emptied' | 'trashed';
export const silentKinds: readonly SilentKind[] = ['edited', 'emptied', 'trashed'];

/** JSON of an entry; readers ignore unknown keys. */
export type EntryDetails = Record<string, unknown>;

/** A log entry as callers see it. */
export interface Entry extends Omit<EntryRow, 'kind' | 'details' | 'attempts' | 'triedAt' | 'lastError' | 'parkedAt'> {
  kind: EntryKind;
  details: EntryDetails;
}

export function toEntry({ attempts, triedAt, lastError, parkedAt, ...row }: EntryRow): Entry {
  return { ...row, kind: row.kind as EntryKind, details: JSON.parse(row.details) as EntryDetails };
}

/** At most one of the three is set; none if the user is gone. */
export type Authorship = Pick<EntryRow, 'authorId' | 'remoteAuthorId' | 'authorName'>;

/** The author: an account, or a name if there is no account. */
export function authorshipOf(viewer: Viewer): Authorship {
  const noAuthor = { authorId: null, remoteAuthorId: null, authorName: null };
  if (viewer.kind === 'task') return { ...noAuthor, authorName: 'CI' };
  if (viewer.kind !== 'person') return noAuthor;
  return isLocalAdministrator(viewer)
    ? { ...noAuthor, authorName: 'Administrator' }
    : { ...noAuthor, authorId: viewer.id };
}

/** Whether a CI task wrote the entry: it starts no workflow, to prevent endless loops. */
export const isByTask = (entry: Authorship & Pick<EntryRow, 'via'>): boolean =>
  entry.authorId === null && entry.remoteAuthorId === null && entry.authorName === 'CI' && entry.via === 'api';

/** Channel of the entry, if the transport does not determine it. */
export function viaOf(viewer: Viewer): EntryVia {
  if (viewer.kind === 'task') return 'api';
  if (viewer.kind !== 'person') return 'server';
  return viewer.via === 'local' ? 'cli' : viewer.via === 'token' ? 'api' : viewer.via === 'key' ? 'cli' : 'web';
}
