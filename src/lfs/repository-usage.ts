import { refusalOnLfs, viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { upsert } from '../db/index.ts';
import type { LfsDeps } from './deps.ts';
import { errorOfRefusal } from './lfs-errors.ts';
import { lfsRepositorySchema } from './schema/lfs-schema.ts';
import type { LfsRepositoryRow } from './schema/lfs-schema.ts';

/** LFS usage of a repository, and whether it accepts objects. No access check. */
export async function repositoryUsage(
  { db }: Pick<LfsDeps, 'db'>,
  repositoryId: string,
): Promise<Omit<LfsRepositoryRow, 'scannedAt' | 'scanError'>> {
  const [row] = await db.lookup(lfsRepositorySchema, { repositoryId });
  return row ?? { repositoryId, isEnabled: true, objects: 0, bytes: 0, sharedBytes: 0 };
}

/** Switches LFS on or off for a repository; stored objects stay. Throws access errors. */
export async function switchRepository(
  deps: LfsDeps,
  viewer: Viewer,
  { owner, name }: { owner: string; name: string },
  isEnabled: boolean,
): Promise<void> {
  const { repository } = await deps.repositories.openForRead(viewer, owner, name);
  const personId = viewer.kind === 'person' ? viewer.id : null;
  const hasChanged = await deps.db.write(async ({ manager }) => {
    const facts = await deps.repositories.factsOf(personId, repository, manager);
    const refusal = refusalOnLfs(viewer, { ...facts, archived: false, mayPropose: false }, 'manage');
    if (refusal !== null) throw errorOfRefusal(refusal);
    const row = await manager.findOneBy(lfsRepositorySchema, { repositoryId: repository.id });
    if ((row?.isEnabled ?? true) === isEnabled) return false;
    await manager.query(upsert('lfs_repositories', ['repository_id'], ['is_enabled']), [
      repository.id,
      isEnabled ? 1 : 0,
    ]);
    return true;
  });
  if (hasChanged)
    deps.logger.info(isEnabled ? 'lfs.switched_on' : 'lfs.switched_off', {
      repositoryId: repository.id,
      by: viewerForLog(viewer),
    });
}
