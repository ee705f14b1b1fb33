import { repositoryUrl } from '../../http/index.ts';
import type { FoundWithHeader } from './context.ts';

/**
 * Where a viewer who may push to a repository opens a pull request from one of its branches: a fork contributes to what
 * it was forked from. Null for the others, and where no pull requests are taken.
 * @param base null for the default branch
 */
export function newPullUrl(
  { canonical, level, repository, issues, forks }: FoundWithHeader,
  branch: string,
  base: string | null = null,
): string | null {
  const mayWrite = level === 'write' || level === 'admin';
  if (!mayWrite || repository.archivedAt !== null) return null;
  const { source } = forks;
  if (source === null && !issues.pulls.isOn) return null;
  const query = new URLSearchParams({
    ...(base === null ? {} : { base }),
    head: source === null ? branch : `${canonical.owner}/${canonical.name}:${branch}`,
  });
  return `${repositoryUrl(source ?? canonical)}/pulls/new?${query}`;
}
