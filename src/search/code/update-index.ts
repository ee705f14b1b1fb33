import { statfs } from 'node:fs/promises';
import { upsert } from '../../db/index.ts';
import type { DatabaseThread } from '../../db/index.ts';
import type { Git } from '../../git/index.ts';
import type { Logger } from '../../kernel/index.ts';
import type { Repositories } from '../../repositories/index.ts';
import { indexRepository } from './index-repository.ts';
import type { CodeSearchLimits, IndexState } from './index-repository.ts';

interface UpdateDeps {
  /** Writes the index. */
  thread: DatabaseThread;
  /** Reads the database, with the index attached as `code`. */
  readThread: DatabaseThread;
  folder: string;
  git: Git;
  repositories: Pick<Repositories, 'locate'>;
  logger: Logger;
  limits: CodeSearchLimits;
  lowDiskFloorBytes: number;
  isStopping(): boolean;
}

/** Finding outdated repositories scans all of them, so each scan returns many. */
const rowsAtOnce = 500;

/** Repositories changed since they were indexed; the latest first. */
const behind = `SELECT r.id, r.updated_at AS updatedAt FROM repositories r LEFT JOIN code.repositories c ON c.id = r.id
  WHERE r.deleted_at IS NULL AND (c.id IS NULL OR c.seen_at < r.updated_at) ORDER BY r.updated_at DESC LIMIT ${rowsAtOnce}`;

const gone = `SELECT c.id FROM code.repositories c LEFT JOIN main.repositories r ON r.id = c.id
  WHERE r.id IS NULL OR r.deleted_at IS NOT NULL LIMIT ${rowsAtOnce}`;

const rowsOf = async (thread: DatabaseThread, sql: string) => (await thread.run([{ sql, parameters: [] }]))[0]!;

/**
 * Updates the index for everything that was pushed, created, moved or deleted. Each repository is a step of its own, so
 * the next run resumes an interrupted one. With little free disk space nothing is added.
 */
export async function updateIndex(deps: UpdateDeps): Promise<number> {
  let changed = 0;
  for (;;) {
    const { bavail, bsize } = await statfs(deps.folder);
    if (bavail * bsize < deps.lowDiskFloorBytes) return changed;
    const old = (await rowsOf(deps.readThread, gone)).map((row) => String(row['id']));
    for (const id of old) await forget(deps, id);
    const rows = (await rowsOf(deps.readThread, behind)).map((row) => ({
      id: String(row['id']),
      updatedAt: Number(row['updatedAt']),
    }));
    for (const { id, updatedAt } of rows) {
      if (deps.isStopping()) return changed;
      if (await indexIfChanged(deps, id, updatedAt)) changed += 1;
    }
    if (rows.length + old.length === 0 || deps.isStopping()) return changed;
  }
}

async function indexIfChanged(deps: UpdateDeps, id: string, updatedAt: number): Promise<boolean> {
  const located = (await deps.repositories.locate([id])).get(id);
  const [known] = (
    await deps.thread.run([{ sql: 'SELECT commit_oid AS oid, state FROM repositories WHERE id = ?', parameters: [id] }])
  )[0]!;
  let commit: string | null = null;
  let state: IndexState;
  try {
    commit = located === undefined ? null : (await deps.git.refs.head(located.path)).oid;
    if (known?.['state'] === 'searched' && known['oid'] === commit) {
      await recordState(deps, id, commit, 'searched', updatedAt);
      return false;
    }
    state = located === undefined ? 'failed' : await indexRepository(deps, { id, path: located.path, commit });
  } catch (error) {
    if (deps.isStopping()) return false;
    // A repository that git cannot read must not block the others.
    deps.logger.warn('code_search.failed', { repositoryId: id, error });
    state = 'failed';
  }
  await recordState(deps, id, commit, state, updatedAt);
  return true;
}

async function recordState(
  { thread }: UpdateDeps,
  id: string,
  commit: string | null,
  state: IndexState,
  seenAt: number,
): Promise<void> {
  const sql = upsert('repositories', ['id'], ['commit_oid', 'state', 'seen_at']);
  await thread.run([{ sql, parameters: [id, commit, state, seenAt] }]);
}

async function forget({ thread, ...deps }: UpdateDeps, id: string): Promise<void> {
  await indexRepository({ thread, ...deps }, { id, path: '', commit: null });
  await thread.run([{ sql: 'DELETE FROM repositories WHERE id = ?', parameters: [id] }]);
}
