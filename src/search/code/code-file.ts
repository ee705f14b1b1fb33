import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { openDatabaseThread } from '../../db/index.ts';
import type { DatabaseThread } from '../../db/index.ts';

/** A file of another version is of no use to this program, so the version is in its name. */
const fileName = 'code-search-1.db';

/**
 * What is known of the code: derived data, which can be deleted at any time and comes
 * back by itself. A blob that lies in many repositories is indexed once. The triples of
 * its text only propose it; the blob itself, read from git, decides.
 */
const setUp = [
  'PRAGMA journal_mode = WAL',
  // After a power cut the file may lack its last changes; they are made again.
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

export interface CodeFile {
  /** Where other connections find it. */
  file: string;
  thread: DatabaseThread;
}

/** Opens the file, made anew when it is missing. */
export async function openCodeFile(folder: string): Promise<CodeFile> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, fileName);
  const thread = openDatabaseThread({ file, readOnly: false, setUp }, { requestMs: 120_000, queue: 1_000 });
  await thread.ask([{ sql: 'SELECT 1', parameters: [] }]);
  return { file, thread };
}

/** Takes the file away, for a new start. Nobody may have it open. */
export async function removeCodeFile(folder: string): Promise<void> {
  for (const ending of ['', '-wal', '-shm']) await rm(path.join(folder, fileName + ending), { force: true });
}
