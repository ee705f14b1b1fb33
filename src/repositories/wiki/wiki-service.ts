import type { Viewer } from '../../access/index.ts';
import { bindDeps } from '../../kernel/index.ts';
import { bindRepositoryDeps } from '../bind-repository-deps.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { Found } from '../find-repository.ts';
import { findRedirect } from '../redirects.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { createPage, deletePage, editPage } from './change-page.ts';
import { listPages } from './read-pages.ts';
import { openWikiAt, takeWikiRefs } from './take-refs.ts';
import type { WikiListener } from '../ports/wiki-port.ts';
import { findWiki, openWikiForPush, openWikiForRead, parentOfWiki, wikiSuffix } from './wiki-repository.ts';

/** Wikis: each is a git repository inside its parent's, with the permissions of the parent. */
export function createWikiService(deps: RepositoryDeps) {
  const bindAt = bindRepositoryDeps(deps);
  return {
    find: bindAt(findWiki),
    /** The pages of a wiki already found. */
    pages: bindDeps(deps)(listPages),
    create: bindAt(createPage),
    edit: bindAt(editPage),
    remove: bindAt(deletePage),
    /** For imports. */
    openAt: bindDeps(deps)(openWikiAt),
    takeRefs: bindDeps(deps)(takeWikiRefs),
    onChange: (listener: WikiListener): void => void deps.wikiListeners.push(listener),
    /** For the transports, by the name that a client used; null if it is not a wiki's. */
    openForRead: (viewer: Viewer, owner: string, name: string): Promise<Found> | null => {
      const parent = parentOfWiki(name);
      return parent === null ? null : openWikiForRead(deps, viewer, { owner, name: parent });
    },
    openForPush: (viewer: Viewer, owner: string, name: string): Promise<Found> | null => {
      const parent = parentOfWiki(name);
      return parent === null ? null : openWikiForPush(deps, viewer, { owner, name: parent });
    },
  };
}

/** The current name of a wiki whose parent moved; null as `findRedirect`. */
export async function findMovedWiki(
  deps: RepositoryDeps,
  viewer: Viewer,
  { owner, name }: RepositoryAddress,
): Promise<RepositoryAddress | null> {
  const parent = parentOfWiki(name);
  const moved = parent === null ? null : await findRedirect(deps, viewer, { owner, name: parent });
  return moved === null ? null : { owner: moved.owner, name: `${moved.name}${wikiSuffix}` };
}
