import { isDomainError } from '../../../kernel/index.ts';
import { seeOther, type Reply } from '../../reply.ts';
import { codeUrl } from '../../views/code/code-urls.ts';
import type { CodePage } from '../../views/code/code-urls.ts';
import { repositoryUrl } from '../../views/urls.ts';
import { oneOf } from '../../preferences.ts';
import type { Page, RepositoryVisit } from '../../visit.ts';

const pages: readonly [CodePage, ...CodePage[]] = ['tree', 'blob', 'blame', 'commits', 'find'];

/** `B/go?ref=&page=&path=`: the box of the branch menu, which takes any name of a commit. */
export const goToRef: Page<RepositoryVisit> = async ({ found, query }, { git }): Promise<Reply> => {
  const url = repositoryUrl(found.canonical);
  const ref = (query.get('ref') ?? '').trim();
  try {
    await git.resolve(found.path, ref);
  } catch (error) {
    if (!isDomainError(error) || error.code !== 'not_found') throw error;
    return seeOther(`${url}/branches`);
  }
  return seeOther(codeUrl(url, oneOf(pages, query.get('page')), ref, Buffer.from(query.get('path') ?? '', 'latin1')));
};
