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

/** `{owner}/{name}` as a request spells it. */
interface RepositoryAt {
  owner: string;
  name: string;
}

/** A repository with what decides about its LFS objects. */
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
 * Finds a repository for an act of LFS, also at an address that it had once: clients follow no redirect here.
 * Refuses `repository_not_found`, what the rights refuse, and `lfs_off`, `lfs_off_here` to those who have them.
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

/** As git is let in, so that a push with LFS is refused for the same reasons and with the same words. */
const open = ({ repositories }: LfsDeps, viewer: Viewer, { owner, name }: RepositoryAt, act: LfsAct): Promise<Found> =>
  act === 'upload' ? repositories.openForPush(viewer, owner, name) : repositories.openForRead(viewer, owner, name);

/** Refuses `lfs_off`, `lfs_off_here`. */
async function refuseSwitchedOff(
  { settings }: Pick<LfsDeps, 'settings'>,
  source: RowSource,
  repositoryId: string,
): Promise<void> {
  if (!settings.enabled) throw lfsOff();
  if ((await rowBy(source, lfsRepositorySchema, { repositoryId }))?.isEnabled === false) throw lfsOffHere();
}

/**
 * Inside a write: the same decision by what the write sees, because the bytes of an upload took their time. Whether
 * the viewer may propose changes is taken from the context: only pull requests know.
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
