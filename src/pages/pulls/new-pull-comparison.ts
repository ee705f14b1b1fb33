import type { RefListing } from '../../git/index.ts';
import { allows } from '../../access/index.ts';
import { isDomainError, nullIfNotFound } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { encodeRef } from '../app/code-urls.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { authorsOfCommits } from '../code/commit-authors.ts';
import { viewCommitLine } from '../code/commit-line.view.ts';
import { readCommitReferences } from '../code/commit-references.ts';
import { readCommitStatuses } from '../code/commit-statuses.ts';
import { readComparison } from '../code/read-comparison.ts';
import type { PullsDeps } from './deps.ts';

const maxCommits = 100;
const heads = 'refs/heads/';

/** A branch as the head of a new pull request. */
interface HeadBranch {
  found: Found;
  branch: string;
  oid: string;
}

/**
 * Finds `branch` or `owner/name:branch` for a viewer; null if it is missing or hidden from the viewer, or if they
 * cannot push to the repository.
 */
export async function findHeadBranch(
  { viewer, found }: RepositoryContext,
  { repositories, git }: PullsDeps,
  head: string,
): Promise<HeadBranch | null> {
  const colon = head.indexOf(':');
  const branch = head.slice(colon + 1);
  const [owner = '', name = found.repository.name] = head.slice(0, Math.max(0, colon)).split('/', 2);
  const there = colon === -1 ? found : await repositories.find(viewer, owner, name).catch(nullIfNotFound);
  if (there === null || (there.repository.id !== found.repository.id && !allows(there.level, 'write'))) return null;
  const oid = (await git.queries.cachedRefs(there.path)).get(heads + branch);
  return oid === undefined ? null : { found: there, branch, oid };
}

/** The commits of a head that a base lacks, and their changes; `diff` is null where a fork lacks the base. */
export async function compareForPull(
  context: RepositoryContext,
  deps: PullsDeps,
  { base, baseOid, head }: { base: string; baseOid: string; head: HeadBranch },
) {
  const { git } = deps;
  const isFork = head.found.repository.id !== context.found.repository.id;
  const { path } = head.found;
  // A fork reads the objects of its parent; in a repository that does not, commits are counted across the two.
  const isReadable = !isFork || (await git.objects.commit(path, baseOid).then(...asBoolean));
  if (!isReadable) {
    const distance = await git.queries.distanceBetween(context.found.path, baseOid, path, head.oid);
    return { ...distance, isUnrelated: false, commits: [], messages: [], diff: null };
  }
  const [parted, distance, commits] = await Promise.all([
    git.queries.mergeBase(path, baseOid, head.oid),
    git.queries.distance(path, baseOid, head.oid),
    git.queries.commitsBetween(path, baseOid, head.oid, { limit: maxCommits }),
  ]);
  const there = isFork ? { ...context, found: { ...context.found, ...head.found } } : context;
  const oids = commits.map(({ oid }) => oid);
  const [authors, statuses, references] = await Promise.all([
    authorsOfCommits(deps, commits),
    readCommitStatuses(there, deps, oids),
    readCommitReferences(
      there,
      deps,
      commits.map(({ subject }) => subject),
    ),
  ]);
  const url = repositoryUrl(head.found.canonical);
  // A fork has a different branch with that name.
  const self = `${url}/compare/${encodeRef(isFork ? baseOid : base)}...${encodeRef(head.branch)}`;
  return {
    ...distance,
    isUnrelated: parted === null,
    messages: commits.map(({ subject, message }) => ({ subject, message })),
    commits: commits.map((commit) =>
      viewCommitLine(commit, url, deps.clock.now(), authors, statuses.of(commit.oid), references),
    ),
    diff:
      distance.ahead === 0 ? null : await readComparison(there, deps, { from: parted ?? baseOid, to: head.oid }, self),
  };
}

const asBoolean = [
  (): boolean => true,
  (error: unknown): boolean => {
    if (isDomainError(error) && error.code === 'unavailable') throw error;
    return false;
  },
] as const;

/** Maximum number of suggested branches; any other name can be typed. */
const maxBranches = 200;
const maxForks = 10;

const branchesIn = (refs: RefListing): string[] => refs.page(heads, 0, maxBranches).map(({ name }) => name);

/**
 * Suggestions for the two fields: branches of the repository, and of forks under owners for whom the viewer can create.
 */
export async function suggestBranches({ viewer, found }: RepositoryContext, { repositories, git }: PullsDeps) {
  const bases = branchesIn(await git.queries.cachedRefs(found.path));
  const targets = await repositories.forks.listTargets(viewer, found.repository);
  const forks = await Promise.all(
    targets.slice(0, maxForks).map(async ({ fork }): Promise<string[]> => {
      const there = fork === null ? null : await repositories.find(viewer, fork.owner, fork.name).catch(nullIfNotFound);
      if (there === null || !allows(there.level, 'write')) return [];
      const { owner, name } = there.canonical;
      return branchesIn(await git.queries.cachedRefs(there.path)).map((branch) => `${owner}/${name}:${branch}`);
    }),
  );
  return { bases, heads: [...forks.flat(), ...bases].slice(0, 2 * maxBranches) };
}
