import { apiDocument, apiDocumentBytes } from '../../http-api/index.ts';
import { content, page } from '../app/reply.ts';
import { viewApi } from './api.view.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { SiteDeps } from './deps.ts';

/** `/api/v1/openapi.json`: the document itself, readable by programs from any origin. */
export const showOpenApi: Page<RequestContext, SiteDeps> = async () =>
  content('application/json; charset=utf-8', await apiDocumentBytes(), {
    headers: { 'Access-Control-Allow-Origin': '*' },
  });

/** `/api/v1`: the same document as a page. */
export const showApi: Page<RequestContext, SiteDeps> = async ({ origin }) =>
  page('site/api', { origin, ...viewApi(await apiDocument()) });
