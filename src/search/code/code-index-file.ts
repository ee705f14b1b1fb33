import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { openDatabaseThread } from '../../db/index.ts';
import type { DatabaseThread } from '../../db/index.ts';

/** The name contains the version, since this program cannot use a file of another version. */
const fileName = 'code-search-1.db';

/**
 * The code index: derived data that can be deleted at any time and is rebuilt. A blob in several repositories is
 * indexed once. The trigrams of its text only propose candidates; the blob itself, read from git, decides.
 */
const setUp = [
  'PRAGMA journal_mode = WAL',
  // After a power failure the file may lack its last changes; they are repeated.
  'PRAGMA synchronous = NORMAL',
  'PRAGMA journal_size_limit = 67108864',
  `CREATE TABLE IF NOT EXISTS repositories (
    id TEXT PRIMARY KEY NOT NULL,
    commit_oid TEXT,
    state TEXT NOT NULL CHECK (state IN ('searched', 'too_large', 'no_room', 'failed')),
    seen_at INTEGER NOT NULL
  ) WITHOUT ROWID`,
  'CREATE TABLE IF NOT EXISTS blobs (id INTEGER PRIMARY KEY NOT NULL, oid TEXT NOT NULL UNIQUE)',
  `CREATE TABLE IF NOT EXISTS files (
    repository_id TEXT NOT NULL,
    path TEXT NOT NULL,
    blob_id INTEGER NOT NULL,
    PRIMARY KEY (repository_id, path)
  ) WITHOUT ROWID`,
  'CREATE INDEX IF NOT EXISTS files_blob ON files (blob_id)',
  `CREATE VIRTUAL TABLE IF NOT EXISTS code USING fts5(
    text, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1'
  )`,
];

export interface CodeIndexFile {
  /** The path, for other connections. */
  file: string;
  thread: DatabaseThread;
}

interface OpenOptions {
  /** Idle time after which the thread ends, to release its memory: pushes come in bursts. */
  idleMs?: number;
}

/** Opens the file; creates it if it is missing. */
export async function openCodeIndexFile(folder: string, { idleMs = 60_000 }: OpenOptions = {}): Promise<CodeIndexFile> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, fileName);
  const thread = openDatabaseThread({ file, readOnly: false, setUp }, { requestMs: 120_000, queue: 1_000, idleMs });
  await thread.run([{ sql: 'SELECT 1', parameters: [] }]);
  return { file, thread };
}

/** Deletes the file, for a rebuild. No connection may have it open. */
export async function removeCodeIndexFile(folder: string): Promise<void> {
  for (const ending of ['', '-wal', '-shm']) await rm(path.join(folder, fileName + ending), { force: true });
}
