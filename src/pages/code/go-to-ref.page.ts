import { allows } from '../../access/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import { seeOther, type Reply } from '../app/reply.ts';
import type { Git } from '../../git/index.ts';
import { codeUrl, decodePath, splitPath } from '../app/code-urls.ts';
import type { CodePage } from '../app/code-urls.ts';
import { repositoryUrl, oneOf } from '../../http/index.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { CodeDeps } from './deps.ts';

const pages: readonly [CodePage, ...CodePage[]] = ['tree', 'blob', 'blame', 'commits', 'find'];

/** The path, or its nearest parent folder in this commit. */
async function nearest(git: Git, path: string, oid: string, file: Buffer): Promise<{ file: Buffer; isWhole: boolean }> {
  for (let at = file; at.length > 0; at = splitPath(at).folder) {
    if (
      await git.objects.entryAt(path, oid, at).then(
        () => true,
        () => false,
      )
    )
      return { file: at, isWhole: at === file };
  }
  return { file: Buffer.alloc(0), isWhole: file.length === 0 };
}

/**
 * `B/go?ref=&page=&path=`: redirects the ref menu and its box to the same path at another branch, tag or commit. A
 * missing path redirects to its nearest parent folder.
 */
export const goToRef: Page<RepositoryContext, CodeDeps> = async ({ found, query }, { git }): Promise<Reply> => {
  const url = repositoryUrl(found.canonical);
  const ref = (query.get('ref') ?? '').trim();
  try {
    const oid = await git.refs.resolve(found.path, ref, { includeUnreachable: allows(found.level, 'write') });
    const { file, isWhole } = await nearest(git, found.path, oid, decodePath(query.get('path') ?? ''));
    return seeOther(codeUrl(url, isWhole ? oneOf(pages, query.get('page')) : 'tree', ref, file));
  } catch (error) {
    if (!isDomainError(error) || error.code !== 'not_found') throw error;
    return seeOther(`${url}/branches`);
  }
};
