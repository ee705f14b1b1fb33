import type { RepositoryContext } from '../app/request-context.ts';
import type { PageRoute, Route } from '../app/route.ts';
import { boardsOfOrganisation, boardsOfRepository } from './board-place.ts';
import { boardListPages } from './boards.page.ts';
import { boardPages } from './board.page.ts';

const repositoryList = boardListPages(boardsOfRepository);
const repositoryBoard = boardPages(boardsOfRepository);
const organisationList = boardListPages(boardsOfOrganisation);
const organisationBoard = boardPages(boardsOfOrganisation);

const ofRepository = '/repos/:owner/:name/boards';
const ofOrganisation = '/orgs/:name/boards';

/** The forms of a board, below its URL. The use-case also checks who may submit them. */
const forms = [
  ['', 'edit'],
  ['/delete', 'remove'],
  ['/cards', 'addCard'],
  ['/move', 'moveCards'],
  ['/remove', 'removeCards'],
  ['/columns', 'addColumn'],
  ['/columns/:column', 'editColumn'],
  ['/columns/:column/move', 'moveColumn'],
  ['/columns/:column/delete', 'removeColumn'],
] as const;

/** Boards of repositories and of organisations. */
export const boardsRoutes: readonly Route[] = [
  { method: 'GET', path: ofRepository, access: 'repository:read', cost: 'rows', page: repositoryList.show },
  { method: 'POST', path: ofRepository, access: 'repository:write', cost: 'rows', page: repositoryList.add },
  {
    method: 'GET',
    path: `${ofRepository}/:board`,
    access: 'repository:read',
    cost: 'rows',
    page: repositoryBoard.show,
  },
  ...forms.map(
    ([path, form]): PageRoute => ({
      method: 'POST',
      path: `${ofRepository}/:board${path}`,
      access: 'repository:write',
      cost: 'rows',
      page: (context: RepositoryContext, deps) => repositoryBoard[form](context, deps),
    }),
  ),
  { method: 'GET', path: ofOrganisation, access: 'public', cost: 'rows', page: organisationList.show },
  { method: 'POST', path: ofOrganisation, access: 'signed-in', cost: 'rows', page: organisationList.add },
  { method: 'GET', path: `${ofOrganisation}/:board`, access: 'public', cost: 'rows', page: organisationBoard.show },
  ...forms.map(
    ([path, form]): PageRoute => ({
      method: 'POST',
      path: `${ofOrganisation}/:board${path}`,
      access: 'signed-in',
      cost: 'rows',
      page: (context, deps) => organisationBoard[form](context, deps),
    }),
  ),
];
