import { EntitySchema } from 'typeorm';
import type { Tries } from '../../announcements/index.ts';

export type EntryVia = 'web' | 'api' | 'git' | 'mail' | 'cli' | 'federation' | 'import' | 'server';

/** An entry in the log of an issue. Position 0 has the issue text. */
export interface EntryRow {
  issueId: string;
  position: number;
  /** `opened`, `comment`, `closed` …: see `EntryKind`. */
  kind: string;
  /** UUID of the author; null for a remote or imported author, and once the account is deleted. */
  authorId: string | null;
  remoteAuthorId: string | null;
  /** The author's name if there is no account: an imported author, the command line, CI. */
  authorName: string | null;
  body: string | null;
  /** JSON object. */
  details: string;
  via: EntryVia;
  /** Origin; unique within an issue. */
  origin: string | null;
  /** Number of edits, from 1. */
  revision: number;
  createdAt: number;
  editedAt: number | null;
  deletedAt: number | null;
  heldAt: number | null;
  /** Time when every listener had recorded it. */
  announcedAt: number | null;
  /** How often its announcement began. */
  attempts: number;
  triedAt: number | null;
  lastError: string | null;
  parkedAt: number | null;
}

export const entrySchema = new EntitySchema<EntryRow>({
  name: 'issueEntry',
  tableName: 'issue_entries',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    position: { type: 'integer', primary: true },
    kind: { type: 'text' },
    authorId: { name: 'author_id', type: 'text', nullable: true },
    remoteAuthorId: { name: 'remote_author_id', type: 'text', nullable: true },
    authorName: { name: 'author_name', type: 'text', nullable: true },
    body: { type: 'text', nullable: true },
    details: { type: 'text' },
    via: { type: 'text' },
    origin: { type: 'text', nullable: true },
    revision: { type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
    editedAt: { name: 'edited_at', type: 'integer', nullable: true },
    deletedAt: { name: 'deleted_at', type: 'integer', nullable: true },
    heldAt: { name: 'held_at', type: 'integer', nullable: true },
    announcedAt: { name: 'announced_at', type: 'integer', nullable: true },
    attempts: { type: 'integer' },
    triedAt: { name: 'tried_at', type: 'integer', nullable: true },
    lastError: { name: 'last_error', type: 'text', nullable: true },
    parkedAt: { name: 'parked_at', type: 'integer', nullable: true },
  },
});

/** A listener that has recorded an entry; written in the same transaction as its effect. */
interface EntryAnnouncementRow {
  issueId: string;
  position: number;
  listener: string;
}

export const entryAnnouncementSchema = new EntitySchema<EntryAnnouncementRow>({
  name: 'entryAnnouncement',
  tableName: 'entry_announcements',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    position: { type: 'integer', primary: true },
    listener: { type: 'text', primary: true },
  },
});

/** Attempts of a listener for an entry, from the second announcement on. */
interface EntryListenerAttemptsRow extends Tries {
  issueId: string;
  position: number;
  listener: string;
  lastError: string | null;
}

export const entryListenerAttemptsSchema = new EntitySchema<EntryListenerAttemptsRow>({
  name: 'entryListenerAttempts',
  tableName: 'entry_listener_attempts',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    position: { type: 'integer', primary: true },
    listener: { type: 'text', primary: true },
    attempts: { type: 'integer' },
    ends: { type: 'integer' },
    begunAt: { name: 'begun_at', type: 'integer', nullable: true },
    lastError: { name: 'last_error', type: 'text', nullable: true },
  },
});

/** A text before an edit. */
export interface EntryRevisionRow {
  issueId: string;
  position: number;
  /** The revision of this text. */
  revision: number;
  body: string;
  /** UUID of the user who replaced it. */
  editorId: string | null;
  editedAt: number;
}

export const entryRevisionSchema = new EntitySchema<EntryRevisionRow>({
  name: 'entryRevision',
  tableName: 'entry_revisions',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    position: { type: 'integer', primary: true },
    revision: { type: 'integer', primary: true },
    body: { type: 'text' },
    editorId: { name: 'editor_id', type: 'text', nullable: true },
    editedAt: { name: 'edited_at', type: 'integer' },
  },
});
