import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { Route } from '../app/route.ts';
import type { PullsDeps } from './deps.ts';
import { showChanges } from './changes.page.ts';
import { showPullDiff, showPullPatch } from './pull-patch.page.ts';
import {
  applySuggestions,
  deleteReviewComment,
  editReviewComment,
  markViewed,
  postReviewComment,
  resolveThread,
  submitReview,
} from './review-forms.page.ts';

const one = '/repos/:owner/:name/pulls/:number';

/** 64 KiB of text, each byte percent-encoded, and the other fields. */
const maxFormBytes = 256 * 1024;

/** Readers may open the form; the use-case checks who may submit it. A refused form shows the page again. */
const form = (name: string, page: Page<RepositoryContext, PullsDeps>): Route => ({
  method: 'POST',
  path: `${one}/${name}`,
  access: 'repository:read',
  cost: 'objects',
  maxFormBytes,
  page,
});

/**
 * The pages of changes of a pull request. These precede `…/pulls/:number`, which also matches the URLs with an
 * extension.
 */
export const changesRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: `${one}.diff`,
    access: 'repository:read',
    cost: 'objects',
    page: showPullDiff,
    takesTokens: true,
  },
  {
    method: 'GET',
    path: `${one}.patch`,
    access: 'repository:read',
    cost: 'objects',
    page: showPullPatch,
    takesTokens: true,
  },
  { method: 'GET', path: `${one}/changes`, access: 'repository:read', cost: 'objects', page: showChanges },
  form('review', submitReview),
  form('review/comments', postReviewComment),
  form('review/comments/edit', editReviewComment),
  form('review/comments/delete', deleteReviewComment),
  form('threads/:thread', resolveThread),
  form('viewed', markViewed),
  form('apply', applySuggestions),
];
