import { isRefusal } from '../kernel/index.ts';
import type { Located, RefUpdate } from '../repositories/index.ts';
import type { MirrorDeps } from './deps.ts';
import { fetchLfsObjects } from './mirror-lfs.ts';
import { openHttpRemote } from './remote-credentials.ts';
import { parseRemoteAddress } from './remote-address.ts';
import type { TellName } from './releases/fetch-releases.ts';
import { releasesPrefix } from './releases/releases-prefix.ts';
import { deleteFetchedRefs } from './delete-fetched-refs.ts';

/** A repository on another forge, reached by git, with credentials for that host only. */
export interface Origin {
  /** An http or https URL. */
  url: string;
  username: string;
  secret: string;
}

/** The result of a transfer, with sentences about failures. */
export interface Brought {
  moved: number;
  problems: string[];
  /** The source's refs, which are the `base` of the next transfer. */
  refs: ReadonlyMap<string, string>;
  /** The source's pull request heads, by ref name. */
  pulls: ReadonlyMap<string, string>;
}

const maxNamed = 20;
/** Refs to import; pull request heads are fetched only for their objects. */
const taken = /^refs\/(?:heads|tags|notes)\//;

/**
 * Imports branches, tags, notes and pull request heads from another forge. A ref that was moved here since the last
 * transfer is kept, and reported if it was also moved there. Throws `remote_failed`, `remote_too_large`, and errors of
 * `outbound.resolve` and `applyUpdates`.
 * @param base the source's refs after the last complete transfer
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

/** Imported refs, and the heads of pull requests. */
export const splitRefs = (fetched: ReadonlyMap<string, string>): Pick<Brought, 'refs' | 'pulls'> => ({
  refs: new Map([...fetched].filter(([ref]) => taken.test(ref))),
  pulls: new Map([...fetched].filter(([ref]) => !taken.test(ref))),
});

/** Moves local refs to the fetched ones, and reports refused moves. */
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

/** The moves that make refs equal to the source, except for refs moved here since `before`. */
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
    // Unchanged here since the last transfer, or absent at the first one.
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

/** Imports missing Git LFS objects. @returns descriptions of what did not arrive */
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
    if (!isRefusal(error) || signal.aborted) throw error;
    problems.push(error.message);
  } finally {
    deps.progress.delete(located.repository.id);
  }
  return problems;
}

/** Imports releases with their files. @returns descriptions of what did not arrive */
export async function bringReleases(
  deps: MirrorDeps,
  located: Located,
  origin: Origin,
  signal: AbortSignal,
  tellName: TellName,
): Promise<string[]> {
  try {
    const { fetchReleases } = await import('./releases/fetch-releases.ts');
    await fetchReleases(deps, located, await openOrigin(deps, origin), signal, tellName);
    return [];
  } catch (error) {
    if (!isRefusal(error) || signal.aborted) throw error;
    return [error.message.replace(releasesPrefix, '')];
  } finally {
    deps.progress.delete(located.repository.id);
  }
}

/** Removes the fetched refs of a forge that is no longer followed. */
export const forgetRefs = (deps: MirrorDeps, { path }: Pick<Located, 'path'>): Promise<void> =>
  deleteFetchedRefs(deps.git, path);
