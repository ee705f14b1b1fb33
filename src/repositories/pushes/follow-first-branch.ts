import type { Found } from '../find-repository.ts';
import { repositorySchema } from '../repository-schema.ts';
import type { RepositoryRoom } from '../room.ts';
import type { RefUpdate } from './push-journal.ts';

const branches = 'refs/heads/';
const noRef = /^0+$/;
/** Which of several first branches people mean, before the order in which they came. */
const usual = ['main', 'master'];

/**
 * A first push to `master` must not leave the page of `main` empty: while the default
 * branch does not exist, it follows the branch that came.
 * @param accepted the commands of a push that took effect
 */
export async function followFirstBranch(
  room: Pick<RepositoryRoom, 'db' | 'git' | 'logger'>,
  { repository, path }: Pick<Found, 'repository' | 'path'>,
  accepted: readonly RefUpdate[],
): Promise<void> {
  const created = accepted
    .filter(({ ref, oldId, newId }) => ref.startsWith(branches) && noRef.test(oldId) && !noRef.test(newId))
    .map(({ ref }) => ref.slice(branches.length));
  if (created.length === 0 || created.includes(repository.defaultBranch)) return;
  const head = await room.git.head(path);
  if (head.oid !== null) return;

  const defaultBranch = usual.find((name) => created.includes(name)) ?? created[0]!;
  await room.git.setHead(path, defaultBranch);
  const { id } = repository;
  await room.db.write(({ manager }) => manager.update(repositorySchema, { id }, { defaultBranch }));
  room.logger.info('repository.default_branch_followed', { repositoryId: id, before: head.branch, defaultBranch });
}
