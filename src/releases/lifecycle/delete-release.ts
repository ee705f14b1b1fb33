import { personIdOf, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { findRelease, releaseInWrite } from '../find-release.ts';
import type { ReleaseKey, RepositoryAt } from '../find-release.ts';
import { releaseSchema } from '../schema/release-schema.ts';
import { announce } from '../announce.ts';

/**
 * Deletes a release with its files, and optionally its tag; if the tag cannot be deleted, the release stays. A job
 * removes the content of the files later. Throws `release_not_found`, and the errors of deleting a tag.
 */
export async function deleteRelease(
  deps: ReleaseDeps,
  viewer: Viewer,
  at: RepositoryAt,
  key: ReleaseKey,
  { deletesTag = false }: { deletesTag?: boolean } = {},
): Promise<void> {
  const { found, release: before } = await findRelease(deps, viewer, at, key, 'write');
  const { owner, name } = found.canonical;
  const oid = deletesTag ? await deps.git.refs.tip(found.path, `refs/tags/${before.tag}`) : null;
  if (oid !== null) await deps.repositories.tags.delete(viewer, owner, name, { name: before.tag, expected: oid });
  await deps.db.write(async (tx) => {
    const { repository } = await releaseInWrite(deps, tx, viewer, before);
    // As readers knew it, because the push listener may have turned it into a draft.
    if (!before.isDraft)
      await announce(deps, tx, { action: 'deleted', repository, release: before, actorId: personIdOf(viewer) });
    await tx.manager.delete(releaseSchema, { id: before.id });
  });
  const { repositoryId, tag } = before;
  deps.logger.info('release.deleted', { repositoryId, tag, withTag: oid !== null, by: viewerForLog(viewer) });
}
