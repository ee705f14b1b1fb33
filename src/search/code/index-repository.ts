import { isUtf8 } from 'node:buffer';
import { inList, rowsTable } from '../../db/index.ts';
import type { DatabaseThread } from '../../db/index.ts';
import type { Git } from '../../git/index.ts';
import { fold } from '../fold-text.ts';

/** Limits of code search across repositories. */
export interface CodeSearchLimits {
  /** Size of the whole index on disk in bytes; 0 disables it. */
  budgetBytes: number;
  /** Text size of one repository in bytes. */
  repositoryBytes: number;
}

/** Larger files are data or generated, and rarely searched. */
export const maxFileBytes = 512 * 1024;
const maxFiles = 50_000;
/** Size of one transaction, which determines how long others wait; in memory its text takes fifty times as much. */
const batchBytes = 512 * 1024;
const batchBlobs = 200;

export type IndexState = 'searched' | 'too_large' | 'no_room' | 'failed';

interface WantedFile {
  path: string;
  oid: string;
}

interface KnownFile extends Record<string, unknown> {
  path: string;
  oid: string;
}

/**
 * Updates the index of one repository to a commit: reads missing blobs, and removes those that no repository has
 * anymore.
 * @param commit `null` for a repository without commits
 */
export async function indexRepository(
  { thread, git, limits }: { thread: DatabaseThread; git: Git; limits: CodeSearchLimits },
  { id, path, commit }: { id: string; path: string; commit: string | null },
): Promise<IndexState> {
  const wanted = commit === null ? [] : await filesToIndex(git, path, commit, limits);
  if (wanted === null) return forgetting(thread, id, 'too_large');
  const known = await knownBlobs(thread, wanted);
  const missing = [...new Set(wanted.map(({ oid }) => oid))].filter((oid) => !known.has(oid));
  if (missing.length > 0 && (await sizeOf(thread)) >= limits.budgetBytes) return forgetting(thread, id, 'no_room');
  const isText = await addBlobs(thread, git, path, missing);
  await replaceFiles(
    thread,
    id,
    wanted.filter(({ oid }) => known.has(oid) || isText.has(oid)),
  );
  return 'searched';
}

async function forgetting(thread: DatabaseThread, id: string, state: IndexState): Promise<IndexState> {
  await replaceFiles(thread, id, []);
  return state;
}

/** Text files within the size limit; `null` if the repository exceeds its limit. */
async function filesToIndex(
  git: Git,
  path: string,
  commit: string,
  { repositoryBytes }: CodeSearchLimits,
): Promise<WantedFile[] | null> {
  const { files, truncated } = await git.queries.listFiles(path, commit, { limit: maxFiles });
  const small = files.filter(({ size, path }) => size > 0 && size <= maxFileBytes && isUtf8(path));
  const bytes = small.reduce((sum, { size }) => sum + size, 0);
  if (truncated || bytes > repositoryBytes) return null;
  return small.map(({ path, oid }) => ({ path: path.toString(), oid }));
}

async function knownBlobs(thread: DatabaseThread, files: readonly WantedFile[]): Promise<Set<string>> {
  const oids = JSON.stringify([...new Set(files.map(({ oid }) => oid))]);
  const [rows] = await thread.run([{ sql: `SELECT oid FROM blobs WHERE ${inList('oid')}`, parameters: [oids] }]);
  return new Set(rows!.map((row) => String(row['oid'])));
}

/** Reads blobs and indexes those that are text; returns the indexed ones. */
async function addBlobs(thread: DatabaseThread, git: Git, path: string, oids: readonly string[]): Promise<Set<string>> {
  const added = new Set<string>();
  let batch: { oid: string; text: string }[] = [];
  let bytes = 0;
  const write = async (): Promise<void> => {
    if (batch.length === 0) return;
    const rows = JSON.stringify(batch.map(({ oid, text }) => [oid, text]));
    await thread.run([
      {
        sql: `INSERT INTO blobs (oid) SELECT oid FROM ${rowsTable({ oid: 'text', text: 'text' })} WHERE true ON CONFLICT DO NOTHING`,
        parameters: [rows],
      },
      {
        sql: `INSERT INTO code (rowid, text) SELECT b.id, list.text FROM ${rowsTable({ oid: 'text', text: 'text' })} JOIN blobs b ON b.oid = list.oid`,
        parameters: [rows],
      },
    ]);
    batch = [];
    bytes = 0;
  };
  for (const oid of oids) {
    const { content } = await git.objects.blob(path, oid, { maxBytes: maxFileBytes });
    if (content === null || content.subarray(0, 8_000).includes(0)) continue;
    // NUL would end the text in SQLite; invalid UTF-8 becomes U+FFFD.
    batch.push({ oid, text: fold(content.toString('utf8').replaceAll('\0', ' ')) });
    added.add(oid);
    bytes += content.length;
    if (bytes >= batchBytes || batch.length >= batchBlobs) await write();
  }
  await write();
  return added;
}

async function replaceFiles(thread: DatabaseThread, id: string, files: readonly WantedFile[]): Promise<void> {
  const [before] = await thread.run([
    {
      sql: 'SELECT f.path, b.oid FROM files f JOIN blobs b ON b.id = f.blob_id WHERE f.repository_id = ?',
      parameters: [id],
    },
  ]);
  const rows = JSON.stringify(files.map(({ path, oid }) => [path, oid]));
  const current = new Set(files.map(({ oid }) => oid));
  const gone = JSON.stringify(
    [...new Set((before as KnownFile[]).map(({ oid }) => oid))].filter((oid) => !current.has(oid)),
  );
  const orphans = `SELECT b.id FROM blobs b WHERE ${inList('b.oid')}
    AND NOT EXISTS (SELECT 1 FROM files f WHERE f.blob_id = b.id)`;
  await thread.run([
    { sql: 'DELETE FROM files WHERE repository_id = ?', parameters: [id] },
    {
      sql: `INSERT INTO files (repository_id, path, blob_id) SELECT ?, list.path, b.id FROM ${rowsTable({ path: 'text', oid: 'text' })} JOIN blobs b ON b.oid = list.oid`,
      parameters: [id, rows],
    },
    { sql: `DELETE FROM code WHERE rowid IN (${orphans})`, parameters: [gone] },
    { sql: `DELETE FROM blobs WHERE id IN (${orphans})`, parameters: [gone] },
  ]);
}

/** Used bytes of the file. */
async function sizeOf(thread: DatabaseThread): Promise<number> {
  const sql = `SELECT (page_count - freelist_count) * page_size AS bytes
    FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`;
  const [rows] = await thread.run([{ sql, parameters: [] }]);
  return Number(rows![0]!['bytes']);
}
