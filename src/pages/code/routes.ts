import type { Route } from '../app/route.ts';
import { showArchive } from './archive.page.ts';
import { showBlame } from './blame.page.ts';
import { showBlob } from './blob.page.ts';
import { showBranches } from './branches.page.ts';
import { addBranch, confirmDeletion, removeBranch } from './change-branches.page.ts';
import { showCommit } from './commit.page.ts';
import { showComparison } from './compare.page.ts';
import { showFind } from './file-finder.page.ts';
import { goToRef } from './go-to-ref.page.ts';
import { showHistory } from './history.page.ts';
import { showRaw } from './raw.page.ts';
import { searchRepository } from './search.page.ts';
import { addTag, confirmTagDeletion, removeTag } from './change-tags.page.ts';
import { showTags, showTagFeed } from './tags.page.ts';
import { showTree } from './tree.page.ts';

const at = '/repos/:owner/:name';

/** The pages that read a repository with git, and the forms that change branches and tags. */
export const codeRoutes: readonly Route[] = [
  { method: 'GET', path: `${at}/tree{/*path}`, access: 'repository:read', cost: 'objects', page: showTree },
  { method: 'GET', path: `${at}/blob/*path`, access: 'repository:read', cost: 'objects', page: showBlob },
  {
    method: 'GET',
    path: `${at}/raw/*path`,
    access: 'repository:read',
    cost: 'objects',
    page: showRaw,
    takesTokens: true,
  },
  { method: 'GET', path: `${at}/blame/*path`, access: 'repository:read', cost: 'objects', page: showBlame },
  { method: 'GET', path: `${at}/commits{/*path}`, access: 'repository:read', cost: 'objects', page: showHistory },
  { method: 'GET', path: `${at}/commit/:id`, access: 'repository:read', cost: 'objects', page: showCommit },
  { method: 'GET', path: `${at}/compare{/*range}`, access: 'repository:read', cost: 'objects', page: showComparison },
  { method: 'GET', path: `${at}/branches`, access: 'repository:read', cost: 'objects', page: showBranches },
  { method: 'POST', path: `${at}/branches`, access: 'repository:write', cost: 'objects', page: addBranch },
  { method: 'GET', path: `${at}/branches/delete`, access: 'repository:write', cost: 'objects', page: confirmDeletion },
  { method: 'POST', path: `${at}/branches/delete`, access: 'repository:write', cost: 'objects', page: removeBranch },
  { method: 'GET', path: `${at}/tags`, access: 'repository:read', cost: 'objects', page: showTags },
  { method: 'POST', path: `${at}/tags`, access: 'repository:write', cost: 'objects', page: addTag },
  { method: 'GET', path: `${at}/tags/delete`, access: 'repository:write', cost: 'objects', page: confirmTagDeletion },
  { method: 'POST', path: `${at}/tags/delete`, access: 'repository:write', cost: 'objects', page: removeTag },
  { method: 'GET', path: `${at}/tags.atom`, access: 'repository:read', cost: 'objects', page: showTagFeed },
  {
    method: 'GET',
    path: `${at}/archive/*file`,
    access: 'repository:read',
    cost: 'transfer',
    page: showArchive,
    takesTokens: true,
  },
  { method: 'GET', path: `${at}/search`, access: 'repository:read', cost: 'objects', page: searchRepository },
  { method: 'GET', path: `${at}/find{/*path}`, access: 'repository:read', cost: 'objects', page: showFind },
  { method: 'GET', path: `${at}/go`, access: 'repository:read', cost: 'objects', page: goToRef },
];
