import { repositoryUrl } from '../../http/index.ts';
import { branchOf, noRef } from '../../kernel/index.ts';
import { newPullUrl } from '../app/new-pull-url.ts';
import { viewName } from '../app/printable-names.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import type { RepositoryDeps } from './deps.ts';

/** A recently pushed branch of the viewer, with the URL that opens a pull request from it. */
interface PushedBranchView {
  name: string;
  url: string;
}

/** Time after a push in which the page offers the branch, maximum number of pushes read, and of branches offered. */
const offeredMs = 2 * 3_600_000;
const lookedAt = 10;
const offered = 2;

/**
 * Branches that the viewer has pushed in the last hours and that have no pull request, newest first. A push that
 * brings a repository here, with its default branch or many branches at once, offers none. No query is made for a
 * repository without recent pushes.
 */
export async function readPushedBranches(
  { viewer, person, found }: RepositoryContext,
  { repositories, pulls, git, clock }: RepositoryDeps,
): Promise<PushedBranchView[]> {
  const { repository, path } = found;
  const since = clock.now() - offeredMs;
  if (person === null || (repository.pushedAt ?? 0) < since || newPullUrl(found, '') === null) return [];
  const pushes = await repositories.pushes.listRecent(viewer, lookedAt);
  const refs = await git.queries.cachedRefs(path);
  const branches = new Set<string>();
  for (const push of pushes) {
    if (push.repository.id !== repository.id || push.person?.id !== person.id || push.at < since) continue;
    if (bringsRepository(push.updates, repository.defaultBranch)) continue;
    for (const { ref, newId } of push.updates) {
      const branch = branchOf(ref);
      if (branch !== null && branch !== repository.defaultBranch && refs.get(ref) === newId) branches.add(branch);
    }
  }
  const { source } = found.forks;
  const target = source === null ? found : await repositories.find(viewer, source.owner, source.name);
  const open = await pulls.openHeads(target.repository.id, {
    headRepositoryId: repository.id,
    branches: [...branches],
  });
  return [...branches]
    .filter((branch) => !open.has(branch))
    .slice(0, offered)
    .map((branch) => ({ name: viewName(branch), url: newPullUrl(found, branch) ?? repositoryUrl(found.canonical) }));
}

/** More new branches than one works on at once. */
const manyBranches = 3;

function bringsRepository(updates: readonly { ref: string; oldId: string }[], defaultBranch: string): boolean {
  const made = updates.filter(({ ref, oldId }) => branchOf(ref) !== null && noRef.test(oldId));
  return made.length > manyBranches || made.some(({ ref }) => branchOf(ref) === defaultBranch);
}
