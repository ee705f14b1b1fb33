import { notFound } from '../../kernel/index.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { SiteDeps } from './deps.ts';

/** Every address that is not in the table, so that the 404 page knows who is looking, and inside which repository. */
export const showNotFound = ((): never => {
  throw notFound();
}) satisfies Page<RequestContext, SiteDeps>;
