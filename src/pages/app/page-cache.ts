import { createRenderedPages } from './rendered-pages.ts';
import type { RenderedPages } from './rendered-pages.ts';
import { createResponseCache } from './response-cache.ts';
import type { ResponseCache, ResponseCacheOptions } from './response-cache.ts';

/**
 * The page cache: pages of repositories that are made from git, in two levels that are looked up in this order.
 *
 * 1. Responses (`response-cache.ts`), for anonymous clients: sent before the middlewares.
 * Key: the URL, the forwarded origin and the headers in `varyHeaders`.
 * Validators: the state of the database, the repository's refs, the SSH address, and age.
 * 2. Rendered pages (`rendered-pages.ts`), for everyone: looked up after authorization.
 * Key: every input of the page (`cache-key.ts`: viewer, preferences, repository, rights, refs).
 * Validators: its dependencies (`dependency.ts`), checked when the database has changed, and age.
 *
 * Nothing has to be invalidated manually. A page is at most a minute old, because its times are relative ("2 minutes
 * ago"). The first level costs a fifth of the second: 22 µs of CPU time for a response instead of 105 µs, nearly all of
 * it the middlewares; so it is cached.
 */
export interface PageCache extends ResponseCache {
  rendered: RenderedPages;
}

export const createPageCache = (options: ResponseCacheOptions): PageCache => ({
  ...createResponseCache(options),
  rendered: createRenderedPages(),
});
