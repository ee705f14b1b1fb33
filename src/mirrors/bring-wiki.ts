import { isRefusal } from '../kernel/index.ts';
import { remoteMessages } from '../git/index.ts';
import type { RemoteRefs } from '../git/index.ts';
import type { Located } from '../repositories/index.ts';
import { mergeRefs, openOrigin } from './bring-repository.ts';
import type { Origin } from './bring-repository.ts';
import type { MirrorDeps } from './deps.ts';

/** The result of a wiki transfer. */
export interface BroughtWiki {
  moved: number;
  problems: string[];
  /** The source's refs, which are the `base` of the next transfer; null if the wiki could not be read. */
  refs: ReadonlyMap<string, string> | null;
}

const maxNamed = 20;

/**
 * Imports the git repository of a wiki into the wiki of a local repository. A ref that was moved here since the last
 * transfer is kept, and reported if it was also moved there. An absent wiki imports nothing: forges create its
 * repository with the first page. Throws errors that are not failures of the source.
 * @param origin origin of the wiki
 * @param base the source's refs after the last complete transfer
 */
export async function bringWiki(
  deps: MirrorDeps,
  located: Located,
  origin: Origin,
  { signal, base }: { signal: AbortSignal; base: ReadonlyMap<string, string> },
): Promise<BroughtWiki> {
  try {
    const remote = await openOrigin(deps, origin);
    const there = await deps.git.remotes.list(remote, { signal });
    if (there.refs.size === 0 && base.size === 0) return { moved: 0, problems: [], refs: there.refs };
    const path = await deps.repositories.wikis.openAt(located.path);
    if (!isSame(base, there.refs)) await deps.git.remotes.fetch(path, remote, { signal });
    return await takeFetched(deps, path, there, base);
  } catch (error) {
    if (!isRefusal(error) || signal.aborted) throw error;
    return { moved: 0, problems: describeAbsence(error.message, origin), refs: null };
  }
}

async function takeFetched(
  { git, repositories }: MirrorDeps,
  path: string,
  there: RemoteRefs,
  base: ReadonlyMap<string, string>,
): Promise<BroughtWiki> {
  const fetched = await git.remotes.fetchedRefs(path);
  // It may have moved between the listing and the fetch: the fetched value counts.
  const refs = isSame(base, there.refs) ? there.refs : fetched;
  return moveWiki({ git, repositories }, path, { refs, head: there.head, base });
}

/** Moves the refs of a wiki to the fetched ones. */
export async function moveWiki(
  { git, repositories }: Pick<MirrorDeps, 'git' | 'repositories'>,
  path: string,
  { refs, head, base }: RemoteRefs & { base: ReadonlyMap<string, string> },
): Promise<BroughtWiki> {
  const { updates, problems } = mergeRefs(base, refs, await git.refs.list(path));
  if (updates.length === 0) return { moved: 0, problems, refs };
  const results = await repositories.wikis.takeRefs(path, updates, head);
  const refused = results.filter(({ ok }) => !ok);
  for (const { ref, reason } of refused.slice(0, maxNamed))
    problems.push(`${ref} was refused here: ${reason ?? 'no reason was given'}`);
  return { moved: results.length - refused.length, problems, refs };
}

const isSame = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean =>
  one.size === other.size && [...one].every(([ref, oid]) => other.get(ref) === oid);

/** GitHub's response is the same for a wiki without pages and for one that requires a token. */
function describeAbsence(message: string, { secret }: Origin): string[] {
  if (message === remoteMessages.absent) return [];
  const isUnknown = secret === '' && message === remoteMessages.asksForPassword;
  return [isUnknown ? 'has no pages there, or is shown to a token only' : message];
}
