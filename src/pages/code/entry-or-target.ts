import type { RefPath, TreeEntry } from '../../git/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import { codeUrl } from '../app/code-urls.ts';
import { movedTo } from '../app/reply.ts';
import type { RedirectReply } from '../app/reply.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import type { CodeDeps } from './deps.ts';
import { followLinks } from './follow-links.ts';

/**
 * The entry at a path. If the path goes through a symbolic link of a folder, returns a redirect to its target. Throws
 * `revision_not_found`.
 */
export async function entryOrTarget(
  { found }: RepositoryContext,
  { git }: CodeDeps,
  at: RefPath,
  page: 'blob' | 'tree',
): Promise<TreeEntry | RedirectReply> {
  try {
    return await git.objects.entryAt(found.path, at.oid, at.file);
  } catch (error) {
    if (!isDomainError(error) || error.code !== 'not_found') throw error;
    const target = await followLinks(git, found.path, at);
    if (target === null) throw error;
    return movedTo(codeUrl(repositoryUrl(found.canonical), page, at.ref, target.file));
  }
}
