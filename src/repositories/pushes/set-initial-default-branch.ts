import type { Found } from '../find-repository.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { RefUpdate } from './push-journal.ts';
import { noRef, shortRef } from '../../kernel/index.ts';

const branches = 'refs/heads/';
/** Usual names of the default branch, preferred over newer branches. */
const usual = ['main', 'master', 'trunk'];
/** Limit of branches to check; a push of more includes one of the usual names. */
const maxLookedAt = 200;

/**
 * Sets the default branch at the first push: while the default branch does not exist, the pushed branch becomes it; of
 * several, the one with the newest commit.
 * @param accepted commands of the push that took effect
 */
export async function setInitialDefaultBranch(
  deps: Pick<RepositoryDeps, 'db' | 'git' | 'logger'>,
  { repository, path }: Pick<Found, 'repository' | 'path'>,
  accepted: readonly RefUpdate[],
): Promise<void> {
  const created = accepted
    .filter(({ ref, oldId, newId }) => ref.startsWith(branches) && noRef.test(oldId) && !noRef.test(newId))
    .map(({ ref, newId }) => ({ name: shortRef(ref), tip: newId }));
  const isCreated = (branch: string) => created.some(({ name }) => name === branch);
  if (created.length === 0 || isCreated(repository.defaultBranch)) return;
  const head = await deps.git.refs.head(path);
  if (head.oid !== null) return;

  const defaultBranch = usual.find(isCreated) ?? (await newest(deps.git, path, created.slice(0, maxLookedAt)));
  await deps.git.refs.setHead(path, defaultBranch);
  const { id } = repository;
  await deps.db.write(({ manager }) => manager.update(repositorySchema, { id }, { defaultBranch }));
  deps.logger.info('repository.default_branch_followed', { repositoryId: id, before: head.branch, defaultBranch });
}

/** The branch with the newest commit; git sends branches sorted by name, so their order is meaningless. */
async function newest(
  git: RepositoryDeps['git'],
  path: string,
  created: readonly { name: string; tip: string }[],
): Promise<string> {
  const [first] = created;
  let best = { name: first!.name, at: -Infinity };
  for (const { name, tip } of created.length > 1 ? created : []) {
    const { committer } = await git.objects.commit(path, tip);
    if (committer.at > best.at) best = { name, at: committer.at };
  }
  return best.name;
}
