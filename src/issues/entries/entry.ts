import { isLocalAdministrator } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { EntryRow, EntryVia } from '../schema/entry-schema.ts';

/** What an entry says. */
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
 * Kinds that listeners receive and the timeline does not show, because the changed entry shows it already. `edited` and
 * `emptied` name a text by `details.position`.
 */
type SilentKind = 'edited' | 'emptied' | 'trashed';
export const silentKinds: readonly SilentKind[] = ['edited', 'emptied', 'trashed'];

/** JSON of an entry; a reader passes over keys that it does not know. */
export type EntryDetails = Record<string, unknown>;

/** An entry of the log as callers see it. */
export interface Entry extends Omit<EntryRow, 'kind' | 'details' | 'attempts' | 'triedAt' | 'lastError' | 'parkedAt'> {
  kind: EntryKind;
  details: EntryDetails;
}

export function toEntry({ attempts, triedAt, lastError, parkedAt, ...row }: EntryRow): Entry {
  return { ...row, kind: row.kind as EntryKind, details: JSON.parse(row.details) as EntryDetails };
}

/** Exactly one of the three is set, or none for a user who is gone. */
export type Authorship = Pick<EntryRow, 'authorId' | 'remoteAuthorId' | 'authorName'>;

/** Who writes: an account, or a name where that is none. */
export function authorshipOf(viewer: Viewer): Authorship {
  const noAuthor = { authorId: null, remoteAuthorId: null, authorName: null };
  if (viewer.kind === 'task') return { ...noAuthor, authorName: 'CI' };
  if (viewer.kind !== 'person') return noAuthor;
  return isLocalAdministrator(viewer)
    ? { ...noAuthor, authorName: 'Administrator' }
    : { ...noAuthor, authorId: viewer.id };
}

/** Whether a task of the CI wrote an entry: it starts no workflow, so that none starts itself for ever. */
export const isByTask = (entry: Authorship & Pick<EntryRow, 'via'>): boolean =>
  entry.authorId === null && entry.remoteAuthorId === null && entry.authorName === 'CI' && entry.via === 'api';

/** How it came, where the transport does not say. */
export function viaOf(viewer: Viewer): EntryVia {
  if (viewer.kind === 'task') return 'api';
  if (viewer.kind !== 'person') return 'server';
  return viewer.via === 'local' ? 'cli' : viewer.via === 'token' ? 'api' : viewer.via === 'key' ? 'cli' : 'web';
}
