import type { Viewer } from '../../access/index.ts';
import { page } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import { readSearchQuery } from '../../http/index.ts';
import { readTabClasses } from '../code/read-editor-configs.ts';
import { viewCodeHit, viewCoverage } from '../code/search-code.view.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { ExploreDeps } from './deps.ts';

/** `/search/code?q=`: the default branches of the repositories that the viewer can read. */
export const showCodeSearch: Page<RequestContext, ExploreDeps> = async ({ query, viewer }, deps) => {
  const { codeSearch } = deps;
  const text = readSearchQuery(query).trim();
  if (!codeSearch.isOn)
    return page('explore/search-code', {
      query: text,
      isOn: false,
      refusal: null,
      files: [],
      isCut: false,
      coverage: '',
    });
  return submitForm(
    () => foundPage(viewer, deps, text),
    (refusal) =>
      page('explore/search-code', { query: text, isOn: true, refusal, files: [], isCut: false, coverage: '' }),
  );
};

async function foundPage(viewer: Viewer, deps: ExploreDeps, query: string): Promise<PageReply> {
  const { hits, isCut, coverage, text } = await deps.codeSearch.find(viewer, query);
  const shown = await Promise.all(
    hits.map(async (hit) =>
      viewCodeHit(hit, text, await readTabClasses({ found: hit.located }, deps, hit.commit, [hit.path])),
    ),
  );
  return page('explore/search-code', {
    query,
    isOn: true,
    refusal: null,
    text,
    isShort: text !== '' && [...text].length < 3,
    files: shown,
    isCut,
    coverage: viewCoverage(coverage),
  });
}
