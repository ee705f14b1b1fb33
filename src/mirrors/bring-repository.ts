import { isDomainError } from '../kernel/index.ts';
import type { Located, RefUpdate } from '../repositories/index.ts';
import type { MirrorDeps } from './deps.ts';
import { fetchLfsObjects } from './mirror-lfs.ts';
import { openHttpRemote } from './remote-credentials.ts';
import { parseRemoteAddress } from './remote-address.ts';
import { releasesPrefix } from './releases/releases-prefix.ts';
import { deleteFetchedRefs } from './delete-fetched-refs.ts';

/** Where a repository of another forge is reached by git, with credentials that only that host gets. */
export interface Origin {
  /** An address of http or https. */
  url: string;
  username: string;
  secret: string;
}

/** What a transfer brought, and what it could not bring, in sentences. */
export interface Brought {
  moved: number;
  problems: string[];
  /** The refs there, which are the `base` of the next transfer. */
  refs: ReadonlyMap<string, string>;
  /** The heads of pull requests there, by the names of their refs. */
  pulls: ReadonlyMap<string, string>;
}

const maxNamed = 20;
/** Refs that are taken over; the heads of pull requests are fetched for their objects alone. */
const taken = /^refs\/(?:heads|tags|notes)\//;

/**
 * Brings branches, tags, notes and the heads of pull requests of another forge. A ref that was moved here since
 * the last transfer stays, and is named when it was moved there as well. Refuses `remote_failed`, `remote_too_large`,
 * what `outbound.resolve` and `applyUpdates` refuse.
 * @param base the refs there when the last transfer was complete
 */
export async function bringRefs(
  deps: MirrorDeps,
  located: Located,
  origin: Origin,
  { signal, pullRefs, base }: { signal: AbortSignal; pullRefs: readonly string[]; base: ReadonlyMap<string, string> },
): Promise<Brought> {
  const { git } = deps;
  const { path, repository } = located;
  const remote = await openOrigin(deps, origin);
  const progress = (text: string): void => void deps.progress.set(repository.id, text);
  try {
    await git.remotes.fetch(path, remote, { signal, progress, more: ['refs/notes/*', ...pullRefs] });
  } finally {
    deps.progress.delete(repository.id);
  }
  const fetched = await git.remotes.fetchedRefs(path);
  return takeRefs(deps, located, { ...splitRefs(fetched), base });
}

/** Refs that are taken over, and the heads of pull requests. */
export const splitRefs = (fetched: ReadonlyMap<string, string>): Pick<Brought, 'refs' | 'pulls'> => ({
  refs: new Map([...fetched].filter(([ref]) => taken.test(ref))),
  pulls: new Map([...fetched].filter(([ref]) => !taken.test(ref))),
});

/** Moves the refs here to those that were fetched, and names those that were refused. */
export async function takeRefs(
  { git, repositories }: Pick<MirrorDeps, 'git' | 'repositories'>,
  located: Located,
  { refs, pulls, base }: Pick<Brought, 'refs' | 'pulls'> & { base: ReadonlyMap<string, string> },
): Promise<Brought> {
  const { updates, problems } = mergeRefs(base, refs, await git.refs.list(located.path));
  if (updates.length === 0) return { moved: 0, problems, refs, pulls };
  const { results } = await repositories.pushes.applyUpdates(located, { via: 'mirror', userId: null, updates });
  const refused = results.filter(({ ok }) => !ok);
  for (const { ref, reason } of refused.slice(0, maxNamed))
    problems.push(`${ref} was refused here: ${reason ?? 'no reason was given'}`);
  return { moved: results.length - refused.length, problems, refs, pulls };
}

/** The moves that bring refs to what they are there, unless they were moved here since `before`. */
export function mergeRefs(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  here: ReadonlyMap<string, string>,
): { updates: RefUpdate[]; problems: string[] } {
  const updates: RefUpdate[] = [];
  const problems: string[] = [];
  for (const ref of new Set([...before.keys(), ...after.keys()])) {
    const [old, wanted, own] = [before.get(ref), after.get(ref), here.get(ref)];
    if (own === wanted) continue;
    // It is here as the last transfer left it, or the first one finds nothing.
    if (own === old) {
      const zeros = '0'.repeat((wanted ?? own ?? '').length);
      updates.push({ ref, oldId: own ?? zeros, newId: wanted ?? zeros });
    } else if (wanted !== old) problems.push(`${ref} was moved here and there; it stays as it is here`);
  }
  return { updates, problems };
}

export const openOrigin = async (deps: MirrorDeps, { url, username, secret }: Origin) => {
  const address = parseRemoteAddress(url);
  if (address.kind !== 'http') throw new Error('an import is by http');
  const remote = await openHttpRemote(deps, address, { username, secret });
  if ('ssh' in remote) throw new Error('an import is by http');
  return remote;
};

export const nameMissing = (lacking: readonly string[]): string[] => [
  ...lacking.slice(0, maxNamed).map((oid) => `the object ${oid} is missing there`),
  ...(lacking.length > maxNamed ? [`${lacking.length - maxNamed} more objects are missing there`] : []),
];

/** Brings the objects of Git LFS that are not here yet. @returns what did not arrive */
export async function bringLfs(
  deps: MirrorDeps,
  located: Located,
  origin: Origin,
  signal: AbortSignal,
): Promise<string[]> {
  const problems: string[] = [];
  try {
    const lacking = await fetchLfsObjects(deps, located, await openOrigin(deps, origin), 'all', signal);
    problems.push(...nameMissing(lacking));
  } catch (error) {
    if (!isDomainError(error) || error.code === 'internal' || signal.aborted) throw error;
    problems.push(error.message);
  } finally {
    deps.progress.delete(located.repository.id);
  }
  return problems;
}

/** Brings releases with their files. @returns what did not arrive */
export async function bringReleases(
  deps: MirrorDeps,
  located: Located,
  origin: Origin,
  signal: AbortSignal,
): Promise<string[]> {
  try {
    const { fetchReleases } = await import('./releases/fetch-releases.ts');
    await fetchReleases(deps, located, await openOrigin(deps, origin), signal);
    return [];
  } catch (error) {
    if (!isDomainError(error) || error.code === 'internal' || signal.aborted) throw error;
    return [error.message.replace(releasesPrefix, '')];
  } finally {
    deps.progress.delete(located.repository.id);
  }
}

/** Forgets what was fetched, when another forge is no longer followed. */
export const forgetRefs = (deps: MirrorDeps, { path }: Pick<Located, 'path'>): Promise<void> =>
  deleteFetchedRefs(deps.git, path);
