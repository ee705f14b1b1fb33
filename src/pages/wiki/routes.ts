import type { Route } from '../app/route.ts';
import {
  createWikiPage,
  deleteWikiPage,
  saveWikiPage,
  showEditWikiPage,
  showNewWikiPage,
} from './edit-wiki-page.page.ts';
import { searchWiki, showWikiHistory, showWikiPages } from './wiki-pages.page.ts';
import { showWikiFile, showWikiPage } from './wiki-page.page.ts';

const at = '/repos/:owner/:name/wiki';
const read = { access: 'repository:read', cost: 'objects' } as const;
const write = { access: 'repository:write', cost: 'objects' } as const;
/** A page of 1 MiB, each byte percent-encoded. */
const maxFormBytes = 4 * 1024 * 1024;

/** The wiki of a repository. Titles cannot begin with `_`, except for the sidebar and the footer. */
export const wikiRoutes: readonly Route[] = [
  { method: 'GET', path: at, ...read, page: showWikiPage },
  { method: 'GET', path: `${at}/_pages`, ...read, page: showWikiPages },
  { method: 'GET', path: `${at}/_search`, ...read, page: searchWiki },
  { method: 'GET', path: `${at}/_new`, ...write, page: showNewWikiPage },
  { method: 'POST', path: `${at}/_new`, ...write, maxFormBytes, page: createWikiPage },
  { method: 'GET', path: `${at}/_edit/*path`, ...write, page: showEditWikiPage },
  { method: 'POST', path: `${at}/_edit/*path`, ...write, maxFormBytes, page: saveWikiPage },
  { method: 'POST', path: `${at}/_delete/*path`, ...write, page: deleteWikiPage },
  { method: 'GET', path: `${at}/_history/*path`, ...read, page: showWikiHistory },
  { method: 'GET', path: `${at}/_raw/*path`, ...read, page: showWikiFile },
  { method: 'GET', path: `${at}/*path`, ...read, page: showWikiPage },
];
