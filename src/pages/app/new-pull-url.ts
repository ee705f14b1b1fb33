import { repositoryUrl } from '../../http/index.ts';
import type { FoundWithHeader } from './context.ts';

/**
 * URL where a viewer with write access opens a pull request from a branch of the repository: a fork contributes to its
 * parent. Null for other viewers, where pull requests are off, and where the target is archived.
 * @param base null for the default branch
 */
export function newPullUrl(
  { canonical, level, repository, issues, forks }: FoundWithHeader,
  branch: string,
  base: string | null = null,
): string | null {
  const mayWrite = level === 'write' || level === 'admin';
  if (!mayWrite || repository.archivedAt !== null) return null;
  const { source, isSourceArchived } = forks;
  if (isSourceArchived) return null;
  if (source === null && !issues.pulls.isOn) return null;
  const query = new URLSearchParams({
    ...(base === null ? {} : { base }),
    head: source === null ? branch : `${canonical.owner}/${canonical.name}:${branch}`,
  });
  return `${repositoryUrl(source ?? canonical)}/pulls/new?${query}`;
}
