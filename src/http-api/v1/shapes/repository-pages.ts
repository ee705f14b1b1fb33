import type { Viewer } from '../../../access/index.ts';
import type { ListOptions } from '../../../repositories/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { listed } from '../../responses.ts';
import { readPage } from './issues-parts.ts';
import { showListed } from './show-repositories.ts';

interface Place {
  viewer: Viewer;
  deps: WebDeps;
  origin: string;
}

/** A page of repositories by number or key, with the number of all if there are more. */
export async function listIn(
  { viewer, deps, origin }: Place,
  query: { page: number; limit: number; after?: string | undefined },
  options: Omit<ListOptions, 'limit'>,
  { isCounted = true } = {},
) {
  const { rows, next } = await readPage(query, async (paging) => {
    const page = await deps.repositories.list(viewer, { ...options, ...paging });
    return { rows: page.repositories, next: page.next };
  });
  const total = next === null || !isCounted ? null : await deps.repositories.countListed(viewer, options);
  return listed(await showListed(rows, viewer, { origin, deps }), next, total);
}
