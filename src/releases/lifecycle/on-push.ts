import { idsIn } from '../../db/index.ts';
import { noRef, shortRef, tagOf } from '../../kernel/index.ts';
import type { PushListener } from '../../repositories/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { announce } from '../announce.ts';
import { releaseSchema } from '../schema/release-schema.ts';

const tags = 'refs/tags/';

/** A deleted tag, and its commit if that still exists. */
interface LostTag {
  tag: string;
  commit: string | null;
}

/**
 * Push listener: a release whose tag is deleted becomes a draft, as on other forges. Its text and files stay, and
 * publishing it creates the tag again at the same commit.
 */
export function unpublishOnTagDeletion({
  db,
  git,
  repositories,
  logger,
  listeners,
}: ReleaseDeps): PushListener<LostTag[]> {
  return {
    name: 'releases',
    async prepare({ repository, updates }) {
      const deleted = updates.filter(({ ref, newId }) => tagOf(ref) !== null && noRef.test(newId));
      if (deleted.length === 0) return null;
      const released = await db.read
        .createQueryBuilder(releaseSchema, 'r')
        .select(['r.id', 'r.tag'])
        .where('r.repository_id = :repositoryId', { repositoryId: repository.id })
        .andWhere(
          ...idsIn(
            'r.tag',
            deleted.map(({ ref }) => shortRef(ref)),
          ),
        )
        .getMany();
      const located = (await repositories.locate([repository.id])).get(repository.id);
      if (released.length === 0 || located === undefined) return null;
      const lost: LostTag[] = [];
      for (const { tag } of released) {
        // The tag may have been created again since.
        if ((await git.refs.tip(located.path, tags + tag)) !== null) continue;
        const { oldId } = deleted.find(({ ref }) => ref === tags + tag)!;
        const commit = await git.refs.resolve(located.path, oldId, { includeUnreachable: true }).catch(() => null);
        lost.push({ tag, commit });
      }
      return lost.length === 0 ? null : lost;
    },
    async record(tx, { repository, pusherId }, lost) {
      const { manager, now } = tx;
      for (const { tag, commit } of lost) {
        const release = await manager.findOneBy(releaseSchema, { repositoryId: repository.id, tag, isDraft: false });
        if (release === null) continue;
        const changed = {
          isDraft: true,
          publishedAt: null,
          updatedAt: now,
          revision: release.revision + 1,
          target: commit ?? release.target,
        };
        await manager.update(releaseSchema, { id: release.id }, changed);
        await announce({ listeners }, tx, {
          action: 'withdrawn',
          repository,
          release: { ...release, ...changed },
          actorId: pusherId,
        });
      }
      logger.info('release.tag_lost', { repositoryId: repository.id, tags: lost.map(({ tag }) => tag) });
    },
  };
}
