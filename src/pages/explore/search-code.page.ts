import { page } from '../app/reply.ts';
import { readSearchQuery } from '../../http/index.ts';
import { viewCodeHit, viewCoverage } from '../code/search-code.view.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { ExploreDeps } from './deps.ts';

/** `/search/code?q=`: the default branches of the repositories that the viewer may see. */
export const showCodeSearch: Page<RequestContext, ExploreDeps> = async ({ query, viewer }, { codeSearch }) => {
  const text = readSearchQuery(query).trim();
  if (!codeSearch.isOn)
    return page('explore/search-code', { query: text, isOn: false, files: [], isCut: false, coverage: '' });
  const { hits, isCut, coverage } = await codeSearch.find(viewer, text);
  return page('explore/search-code', {
    query: text,
    isOn: true,
    isShort: [...text].length < 3,
    files: hits.map((hit) => viewCodeHit(hit, text)),
    isCut,
    coverage: viewCoverage(coverage),
  });
};
