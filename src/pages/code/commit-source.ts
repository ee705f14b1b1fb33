import { nullIfNotFound } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import type { CodeDeps } from './deps.ts';

/** The source of a commit that no branch or tag contains, so that readers do not take it for the project's own. */
interface CommitSource {
  pull: { number: number; url: string; author: string | null } | null;
}

/** Null for a commit of a branch or tag. A repository without pull requests is not checked. */
export async function readCommitSource(
  { found, viewer }: RepositoryContext,
  { git, pulls, accounts }: Pick<CodeDeps, 'git' | 'pulls' | 'accounts'>,
  oid: string,
): Promise<CommitSource | null> {
  const refs = await git.queries.cachedRefs(found.path);
  if (refs.count('refs/pull/') === 0) return null;
  if (await git.queries.isOnBranchOrTag(found.path, oid)) return null;
  const number = await pulls.ofCommit(viewer, found.canonical, oid);
  if (number === null) return { pull: null };
  const at = { ...found.canonical, number };
  const known = await pulls.find(viewer, at).catch(nullIfNotFound);
  if (known === null) return { pull: null };
  const { authorId } = known.issue;
  const author = authorId === null ? undefined : (await accounts.peopleById([authorId])).get(authorId);
  return {
    pull: { number, url: `${repositoryUrl(found.canonical)}/pulls/${number}`, author: author?.username ?? null },
  };
}
