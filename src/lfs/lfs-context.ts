import { personIdOf, refusalOnLfs } from '../access/index.ts';
import type { LfsAct, LfsRepositoryFacts, Viewer } from '../access/index.ts';
import { rowBy } from '../db/index.ts';
import type { RowSource, Tx } from '../db/index.ts';
import { isDomainError } from '../kernel/index.ts';
import { repositoryOf } from '../repositories/index.ts';
import type { Found, Repository } from '../repositories/index.ts';
import type { LfsDeps } from './deps.ts';
import { errorOfRefusal, lfsOff, lfsOffHere } from './lfs-errors.ts';
import { lfsRepositorySchema } from './schema/lfs-schema.ts';

/** `{owner}/{name}` as spelt in the request. */
interface RepositoryAt {
  owner: string;
  name: string;
}

/** A repository with the data that decides about its LFS objects. */
export interface LfsContext extends Pick<Found, 'repository' | 'canonical'> {
  facts: LfsRepositoryFacts;
}

async function factsOf(
  deps: Pick<LfsDeps, 'repositories'>,
  viewer: Viewer,
  repository: Repository,
  source?: RowSource,
): Promise<Omit<LfsRepositoryFacts, 'mayPropose'>> {
  const facts = await deps.repositories.factsOf(personIdOf(viewer), repository, source);
  return { ...facts, archived: repository.archivedAt !== null };
}

/**
 * Finds a repository for an LFS action, also at a former URL: LFS clients do not follow redirects here. Throws
 * `repository_not_found`, access errors, and `lfs_off`, `lfs_off_here` to users with access.
 */
export async function openLfs(deps: LfsDeps, viewer: Viewer, at: RepositoryAt, act: LfsAct): Promise<LfsContext> {
  const { repository, canonical } = await open(deps, viewer, at, act).catch(async (error: unknown) => {
    const moved = isDomainError(error) ? await deps.repositories.findMoved(viewer, at.owner, at.name) : null;
    if (moved === null) throw error;
    return open(deps, viewer, moved, act);
  });
  const mayPropose = act === 'upload' && (await deps.repositories.mayPropose(viewer, repository));
  const facts = { ...(await factsOf(deps, viewer, repository)), mayPropose };
  const refusal = refusalOnLfs(viewer, facts, act);
  if (refusal !== null) throw errorOfRefusal(refusal);
  await refuseSwitchedOff(deps, deps.db.lookup, repository.id);
  return { repository, canonical, facts };
}

/**
 * The same access check as for git, so that a push with LFS is refused for the same reasons and with the same messages.
 */
const open = ({ repositories }: LfsDeps, viewer: Viewer, { owner, name }: RepositoryAt, act: LfsAct): Promise<Found> =>
  act === 'upload' ? repositories.openForPush(viewer, owner, name) : repositories.openForRead(viewer, owner, name);

/** Throws `lfs_off`, `lfs_off_here`. */
async function refuseSwitchedOff(
  { settings }: Pick<LfsDeps, 'settings'>,
  source: RowSource,
  repositoryId: string,
): Promise<void> {
  if (!settings.enabled) throw lfsOff();
  if ((await rowBy(source, lfsRepositorySchema, { repositoryId }))?.isEnabled === false) throw lfsOffHere();
}

/**
 * Repeats the decision within a write with current data, because the upload took its time. Whether the viewer may
 * propose changes is taken from the context: only pull requests know.
 */
export async function refuseInWrite(
  deps: LfsDeps,
  tx: Tx,
  viewer: Viewer,
  { facts: { id, mayPropose } }: LfsContext,
  act: LfsAct,
): Promise<Repository> {
  const repository = await repositoryOf(tx, id);
  if (repository === null) throw errorOfRefusal('hidden');
  const refusal = refusalOnLfs(viewer, { ...(await factsOf(deps, viewer, repository, tx.manager)), mayPropose }, act);
  if (refusal !== null) throw errorOfRefusal(refusal);
  await refuseSwitchedOff(deps, tx.manager, id);
  return repository;
}
