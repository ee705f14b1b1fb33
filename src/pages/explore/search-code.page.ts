import { page } from '../app/reply.ts';
import { readSearchQuery } from '../../http/index.ts';
import { readTabClasses } from '../code/read-editor-configs.ts';
import { viewCodeHit, viewCoverage } from '../code/search-code.view.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { ExploreDeps } from './deps.ts';

/** `/search/code?q=`: the default branches of the repositories that the viewer may see. */
export const showCodeSearch: Page<RequestContext, ExploreDeps> = async ({ query, viewer }, deps) => {
  const { codeSearch } = deps;
  const text = readSearchQuery(query).trim();
  if (!codeSearch.isOn)
    return page('explore/search-code', { query: text, isOn: false, files: [], isCut: false, coverage: '' });
  const { hits, isCut, coverage } = await codeSearch.find(viewer, text);
  const shown = await Promise.all(
    hits.map(async (hit) =>
      viewCodeHit(hit, text, await readTabClasses({ found: hit.located }, deps, hit.commit, [hit.path])),
    ),
  );
  return page('explore/search-code', {
    query: text,
    isOn: true,
    isShort: [...text].length < 3,
    files: shown,
    isCut,
    coverage: viewCoverage(coverage),
  });
};
