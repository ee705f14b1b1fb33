import { In } from 'typeorm';
import { conflict, invalid } from '../kernel/index.ts';
import { isBranchName, refuseShortName } from '../git/index.ts';
import type { ForkRequest } from '../git/index.ts';
import type { StoreDeps } from './deps.ts';
import type { CacheFolders } from './follow-folder.ts';
import type { Journal } from './journal.ts';
import { storedPackSchema, storedRepositorySchema } from './schema.ts';
import type { StoredRepository } from './schema.ts';

type Deps = StoreDeps & { folders: CacheFolders; journal: Journal };

const firstGeneration = 1;

export const newRow = (id: string, head: string, now: number): StoredRepository => ({
  id,
  head,
  generation: firstGeneration,
  droppedGeneration: 0,
  journalled: 0,
  createdAt: now,
  snapshotGeneration: 0,
  collectedAt: now,
});

const exists = () => conflict('repository_exists', 'A repository already exists at this path.');

/** Throws `invalid_branch_name`, `repository_exists`. */
export async function createStored(deps: Deps, id: string, defaultBranch: string): Promise<void> {
  if (!isBranchName(defaultBranch) || refuseShortName(defaultBranch) !== null)
    throw invalid('invalid_branch_name', 'This is not a valid branch name.');
  await deps.db.write(async ({ manager, now }) => {
    if (await manager.existsBy(storedRepositorySchema, { id })) throw exists();
    await manager.insert(storedRepositorySchema, newRow(id, defaultBranch, now));
  });
  await deps.journal.write(id, firstGeneration);
}

/**
 * A fork refers to the packs of its source by its own rows: copies nothing. Throws `repository_exists`,
 * `repository_empty`, `branch_not_found`.
 */
export async function forkStored(
  deps: Deps,
  source: string,
  id: string,
  { defaultBranch, onlyBranch }: ForkRequest,
): Promise<void> {
  await deps.db.write(async ({ manager, now }) => {
    if (await manager.existsBy(storedRepositorySchema, { id })) throw exists();
    await manager.insert(storedRepositorySchema, newRow(id, defaultBranch, now));
    const only = onlyBranch === null ? null : `refs/heads/${onlyBranch}`;
    await manager.query(
      `INSERT INTO git_refs (repository, name, oid, peeled, generation, changed_at)
        SELECT CAST(? AS text), name, oid, peeled, CAST(? AS bigint), CAST(? AS bigint) FROM git_refs
         WHERE repository = ? AND oid IS NOT NULL ${
           only === null
             ? "AND ((name >= 'refs/heads/' AND name < 'refs/heads0') OR (name >= 'refs/tags/' AND name < 'refs/tags0'))"
             : 'AND name = ?'
         }`,
      [id, firstGeneration, now, source, ...(only === null ? [] : [only])],
    );
    const [counted] = (await manager.query('SELECT count(*) AS refs FROM git_refs WHERE repository = ?', [id])) as [
      { refs: number },
    ];
    if (Number(counted.refs) === 0)
      throw only === null
        ? conflict('repository_empty', 'This repository has no commits yet, so there is nothing to fork.')
        : invalid('branch_not_found', 'This branch does not exist in the repository.', { field: 'branch' });
    await manager.query(
      `INSERT INTO git_packs (repository, key, name, pack_sha256, index_sha256, pack_bytes, index_bytes, generation, created_at)
        SELECT CAST(? AS text), key, name, pack_sha256, index_sha256, pack_bytes, index_bytes, CAST(? AS bigint), created_at
          FROM git_packs WHERE repository = ? AND replaced_at IS NULL`,
      [id, firstGeneration, source],
    );
  });
  await deps.journal.write(id, firstGeneration);
}

/** Removes rows, objects that no other repository uses, and folders. A missing repository is not an error. */
export async function removeStored(deps: Deps, id: string): Promise<void> {
  const ids = id.endsWith('.wiki') ? [id] : [id, `${id}.wiki`];
  const { keys, gone } = await deps.db.write(async ({ manager }) => {
    const packs = await manager.findBy(storedPackSchema, { repository: In(ids) });
    const gone = await manager.findBy(storedRepositorySchema, { id: In(ids) });
    await manager.delete(storedRepositorySchema, { id: In(ids) });
    return { keys: packs.map(({ key }) => key), gone };
  });
  for (const row of gone) await deps.journal.close(row.id, row.generation + 1);
  await removeUnnamedKeys(deps, keys);
  for (const each of ids) await deps.folders.remove(each);
}

/** Removes packs without a row; if the store is unavailable, a sweep removes them later. */
export async function removeUnnamedKeys(
  { db, objects, logger }: Pick<StoreDeps, 'db' | 'objects' | 'logger'>,
  keys: readonly string[],
): Promise<void> {
  for (const key of keys) {
    if (await db.read.existsBy(storedPackSchema, { key })) continue;
    for (const ending of ['idx', 'pack'])
      await objects.remove(`${key}.${ending}`).catch((error: unknown) => {
        logger.warn('repository_store.pack_stays', { key, error });
      });
  }
}
