import { notFound } from '../../kernel/index.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { SiteDeps } from './deps.ts';

/** Matches every other URL, so that the 404 page knows the viewer and the repository. */
export const showNotFound = ((): never => {
  throw notFound();
}) satisfies Page<RequestContext, SiteDeps>;
