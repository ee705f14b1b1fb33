import { allows, isLocalAdministrator } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { parseHeadName } from '../../issues/index.ts';
import { forbidden, invalid, isDomainError, unavailable } from '../../kernel/index.ts';
import type { Found, Repository } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';

/** A branch that becomes the head of a pull request. */
interface FoundHead {
  found: Found;
  branch: string;
  /** Its tip. */
  oid: string;
  /** Fetches its objects into another repository of this server. @returns the fetched tip */
  fetchInto(path: string): Promise<string>;
}

/** Limit of forks of forks followed to their origin. */
const maxForkDepth = 20;

/**
 * Finds the head of a new pull request. Users open a pull request from a branch of a fork only if they can push to it.
 * Throws `head_missing`, also for a repository hidden from the viewer; `not_related`, `head_not_yours`.
 * @param text `branch`, `owner:branch` or `owner/name:branch`
 */
export async function findHead(deps: PullDeps, viewer: Viewer, base: Found, text: string): Promise<FoundHead> {
  const { repository, branch } = parseHead(text);
  const found = repository === null ? base : await findFork(deps, viewer, base, repository);
  const oid = await deps.git.refs.tip(found.path, `refs/heads/${branch}`);
  if (oid === null) throw headMissing(text);
  const isFork = found.repository.id !== base.repository.id;
  if (isFork && !isLocalAdministrator(viewer) && !allows(found.level, 'write'))
    throw forbidden('head_not_yours', 'Only people with write access to the fork can open a pull request from it.');
  return { found, branch, oid, fetchInto: (path) => fetchBranch(deps, found.path, branch, path) };
}

const headMissing = (text: string) =>
  invalid('head_missing', `The branch ${text.slice(0, 200)} does not exist, or you cannot see it.`, { field: 'head' });

/** Throws `head_missing` for an empty branch. */
export function parseHead(text: string): {
  repository: { owner: string; name: string | null } | null;
  branch: string;
} {
  const { owner, name, branch } = parseHeadName(text);
  if (branch === '') throw invalid('head_missing', 'Choose a branch to merge.', { field: 'head' });
  return { repository: owner === null ? null : { owner, name }, branch };
}

/** The fork of the base that `owner` has, or the named repository; possibly the base itself. */
async function findFork(
  deps: PullDeps,
  viewer: Viewer,
  base: Found,
  { owner, name }: { owner: string; name: string | null },
): Promise<Found> {
  const candidates = name === null ? await namesOfForks(deps, viewer, base, owner) : [name];
  for (const candidate of candidates) {
    try {
      const found = await deps.repositories.find(viewer, owner, candidate);
      if (await areRelated(deps, base.repository, found.repository)) return found;
      if (name !== null) throw invalid('not_related', 'The two repositories have no common origin.', { field: 'head' });
    } catch (error) {
      if (!isDomainError(error) || error.code !== 'not_found') throw error;
    }
  }
  throw headMissing(`${owner}${name === null ? '' : `/${name}`}`);
}

/** Most forks keep the name of their origin; renamed ones are found among the first forks of the base. */
async function namesOfForks(deps: PullDeps, viewer: Viewer, base: Found, owner: string): Promise<string[]> {
  const { repositories } = await deps.repositories.forks.list(viewer, base.canonical.owner, base.canonical.name, {
    limit: 100,
  });
  const named = repositories
    .filter((each) => each.owner.handle.toLowerCase() === owner.toLowerCase())
    .map(({ name }) => name);
  return [...new Set([base.repository.name, ...named])];
}

/** Whether two repositories have a common origin. */
async function areRelated(
  { repositories }: Pick<PullDeps, 'repositories'>,
  one: Repository,
  other: Repository,
): Promise<boolean> {
  const ancestors = async (start: Repository): Promise<string[]> => {
    const ids = [start.id];
    let next = start.forkedFromId;
    while (next !== null && ids.length < maxForkDepth) {
      ids.push(next);
      next = (await repositories.locate([next])).get(next)?.repository.forkedFromId ?? null;
    }
    return ids;
  };
  const [a, b] = [await ancestors(one), await ancestors(other)];
  return a.some((id) => b.includes(id));
}

/**
 * Fetches a branch of another repository of this server as hidden objects, which the caller keeps by a round. Throws
 * `disk_low`.
 */
export async function fetchBranch(
  deps: Pick<PullDeps, 'git' | 'repositories' | 'random' | 'logger' | 'isDiskLow'>,
  from: string,
  branch: string,
  into: string,
): Promise<string> {
  if (await deps.isDiskLow(into))
    throw unavailable('disk_low', 'The server is low on disk space. Read access still works.', {
      retryAfterSeconds: 600,
    });
  const refName = deps.random.uuid();
  const oid = await deps.git.remotes.fetchLocal(into, from, branch, refName);
  await deps.repositories.forks.fetched({ from, into, oid });
  await deps.git.objects.keep(into, [{ name: `rounds/${oid}`, oid }]);
  await deps.git.objects
    .release(into, [`sync/${refName}`])
    .catch((error: unknown) => deps.logger.warn('pull.fetch_leftovers', { oid, error }));
  return oid;
}
