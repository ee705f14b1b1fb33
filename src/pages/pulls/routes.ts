import { conversationRoutes, maxTextFormBytes } from '../issues/routes.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { PageRoute, Route } from '../app/route.ts';
import type { PullsDeps } from './deps.ts';
import { openPull, showNewPull } from './new-pull.page.ts';
import { openPatch, showNewPatch } from './new-patch.page.ts';
import { showOwnPulls } from './own-pulls.page.ts';
import { showPullCommits } from './pull-commits.page.ts';
import {
  afterSignIn,
  approveRuns,
  askForReview,
  cancelMerge,
  changeQueue,
  changeHeadBranch,
  letMaintainersPush,
  markDraft,
  markReady,
  mergePull,
  retargetPull,
  revertPull,
  updateBranch,
} from './pull-forms.page.ts';
import { dismissReview } from './review-forms.page.ts';
import { showPullAsJson, showPullAsMarkdown, showPullFeed, showPullsFeed } from './pull-feeds.page.ts';
import { changePulls, showPullList } from './pull-list.page.ts';
import { showQueue } from './queue.page.ts';
import { pullPage, showPull } from './pull.page.ts';

const at = '/repos/:owner/:name';
const list = `${at}/pulls`;
const one = `${list}/:number`;

const read = (path: string, page: Page<RepositoryContext>, cost: 'rows' | 'objects'): PageRoute => ({
  method: 'GET',
  path,
  access: 'repository:read',
  cost,
  page,
});

/** Limit on a pasted patch; a longer one is uploaded as a file. */
const maxPatchFieldBytes = 1024 * 1024;

/** Readers may open the form; the use-case checks who may submit, and anonymous clients are sent to sign in. */
const form = (name: string, page: Page<RepositoryContext, PullsDeps>): PageRoute => ({
  method: 'POST',
  path: `${one}/${name}`,
  access: 'repository:read',
  cost: 'objects',
  maxFormBytes: maxTextFormBytes,
  page: afterSignIn(page),
});

/** All routes of pull requests. Fixed segments come first: `:number` would also match them. */
export const pullsRoutes: readonly Route[] = [
  read(list, showPullList, 'rows'),
  read(`${list}.atom`, showPullsFeed, 'rows'),
  { method: 'POST', path: `${list}/bulk`, access: 'repository:write', cost: 'rows', page: changePulls },
  read(`${list}/new`, showNewPull, 'objects'),
  {
    method: 'POST',
    path: `${list}/new`,
    access: 'repository:read',
    cost: 'objects',
    maxFormBytes: maxTextFormBytes,
    takesFiles: 'PULL',
    page: openPull,
  },
  read(`${list}/new/patch`, showNewPatch, 'rows'),
  {
    method: 'POST',
    path: `${list}/new/patch`,
    access: 'repository:read',
    cost: 'change',
    takesContents: true,
    maxFormBytes: maxPatchFieldBytes,
    page: openPatch,
  },
  read(`${list}/queue`, showQueue, 'rows'),
  read(`${one}.atom`, showPullFeed, 'rows'),
  read(`${one}.json`, showPullAsJson, 'rows'),
  read(`${one}.md`, showPullAsMarkdown, 'rows'),
  read(one, showPull, 'objects'),
  read(`${one}/commits`, showPullCommits, 'objects'),
  ...conversationRoutes(one, 'PULL', pullPage),
  form('merge', mergePull),
  form('cancel-merge', cancelMerge),
  form('queue', changeQueue),
  form('reviewers', askForReview),
  form('dismiss', dismissReview),
  form('maintainers', letMaintainersPush),
  form('update', updateBranch),
  form('retarget', retargetPull),
  form('draft', markDraft),
  form('ready', markReady),
  form('branch', changeHeadBranch),
  form('revert', revertPull),
  form('approve', approveRuns),

  { method: 'GET', path: '/dashboard/pulls', access: 'signed-in', cost: 'rows', page: showOwnPulls },
];
