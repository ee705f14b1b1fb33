import type { Viewer } from '../../access/index.ts';
import { cleanText } from '../../accounts/index.ts';
import type { Commit } from '../../git/index.ts';
import { invalid, isDomainError } from '../../kernel/index.ts';
import type { MergedPull } from '../../pulls/index.ts';
import { parseTagName } from '../../repositories/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { findContext } from '../find-release.ts';
import type { RepositoryAt } from '../find-release.ts';
import { limits } from '../limits.ts';
import { listReleasesByPage } from '../lists/list-releases.ts';
import { formatNotes } from './format-notes.ts';

interface NotesRequest {
  tag: string;
  /** Commit of a tag that does not exist yet; the default branch if omitted. */
  target?: string | undefined;
  /** Tag of the previous release; by default the last one that the tag contains. */
  previous?: string | undefined;
}

/** Notes as Markdown, and the tag after which they start; null for the start of the history. */
interface GeneratedNotes {
  body: string;
  previous: string | null;
}

/** Limit of releases examined to find the previous one. */
const maxCandidates = 30;

/**
 * Generates notes since the previous release: the merged pull requests, then the commits that belong to none. Throws
 * `invalid_tag_name`, `start_not_found` with the field `target`, `previous_not_found` with the field `previous`,
 * `git_busy`, and the errors of the policy.
 */
export async function generateNotes(
  deps: ReleaseDeps,
  viewer: Viewer,
  at: RepositoryAt,
  { tag: given, target, previous }: NotesRequest,
): Promise<GeneratedNotes> {
  const tag = parseTagName(given);
  const { found } = await findContext(deps, viewer, at, 'write');
  const { path, repository } = found;
  const end =
    (await commitOf(deps, path, `refs/tags/${tag}`)) ??
    (await commitOf(deps, path, target || repository.defaultBranch));
  if (end === null)
    throw invalid('start_not_found', 'There is no branch, tag or commit with this name.', { field: 'target' });
  const before = await findPrevious(deps, viewer, found, { tag, end, previous: previous ?? '' });
  const limit = limits.commitsInNotes;
  const commits =
    before === null
      ? await deps.git.objects.log(path, end, { limit })
      : await deps.git.queries.commitsBetween(path, before.oid, end, { limit });
  const pulls = await deps.pulls.mergedAmong(
    repository.id,
    commits.map(({ oid }) => oid),
  );
  const authors = await deps.accounts.peopleById(pulls.flatMap(({ authorId }) => authorId ?? []));
  const order = new Map(commits.map(({ oid }, index) => [oid, index]));
  pulls.sort((one, other) => order.get(other.mergedOid)! - order.get(one.mergedOid)!);
  const byPulls = commitsOfPulls(commits, pulls);
  return {
    previous: before?.tag ?? null,
    body: formatNotes({
      at: found.canonical,
      tag,
      previous: before?.tag ?? null,
      pulls: pulls.map(({ number, title, authorId, authorName }) => {
        const username = authorId === null ? null : (authors.get(authorId)?.username ?? null);
        return { number, title, author: username === null ? authorName : `@${username}` };
      }),
      commits: commits
        .filter(({ oid, parents }) => !byPulls.has(oid) && parents.length < 2)
        .map(({ oid, message }) => ({ oid, subject: cleanText(message.split('\n', 1)[0]!, 300) }))
        .reverse(),
      isCut: commits.length === limit,
      maxBytes: limits.bodyBytes,
    }),
  };
}

async function commitOf({ git }: ReleaseDeps, path: string, revision: string): Promise<string | null> {
  try {
    return await git.refs.resolve(path, revision);
  } catch (error) {
    if (isDomainError(error) && error.code === 'not_found') return null;
    throw error;
  }
}

/** The newest release whose tag the new one contains, else the newest one with a tag. */
async function findPrevious(
  deps: ReleaseDeps,
  viewer: Viewer,
  { path, canonical }: Found,
  { tag, end, previous }: { tag: string; end: string; previous: string },
): Promise<{ tag: string; oid: string } | null> {
  if (previous !== '') {
    const oid = await commitOf(deps, path, `refs/tags/${previous}`);
    if (oid === null) throw invalid('previous_not_found', 'There is no tag with this name.', { field: 'previous' });
    return { tag: previous, oid };
  }
  const page = { page: 1, limit: maxCandidates, isDraft: false };
  const { rows } = await listReleasesByPage(deps, viewer, canonical, page);
  let newest: { tag: string; oid: string } | null = null;
  for (const row of rows.filter((each) => each.tag !== tag)) {
    const oid = await commitOf(deps, path, `refs/tags/${row.tag}`);
    if (oid === null) continue;
    newest ??= { tag: row.tag, oid };
    if (oid !== end && (await deps.git.refs.isForward(path, oid, end))) return { tag: row.tag, oid };
  }
  return newest;
}

/**
 * Filters commits to those of pull requests: commits of their last rounds, and commits that their merges added to the
 * base branch.
 */
export function commitsOfPulls(
  commits: readonly Pick<Commit, 'oid' | 'parents'>[],
  pulls: readonly Pick<MergedPull, 'mergedOid' | 'mergedOntoOid' | 'commits'>[],
): Set<string> {
  const parentsOf = new Map(commits.map(({ oid, parents }) => [oid, parents]));
  const reach = (from: readonly string[], without: ReadonlySet<string>): Set<string> => {
    const reached = new Set<string>();
    for (const left = [...from]; left.length > 0; ) {
      const oid = left.pop()!;
      if (reached.has(oid) || without.has(oid) || !parentsOf.has(oid)) continue;
      reached.add(oid);
      left.push(...parentsOf.get(oid)!);
    }
    return reached;
  };
  const all = new Set<string>();
  for (const { mergedOid, mergedOntoOid, commits: round } of pulls) {
    for (const oid of round) all.add(oid);
    // Without the earlier tip, only the merge commit itself is known.
    if (mergedOntoOid === null) all.add(mergedOid);
    else for (const oid of reach([mergedOid], reach([mergedOntoOid], new Set()))) all.add(oid);
  }
  return all;
}
