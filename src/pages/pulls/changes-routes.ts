import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { Route } from '../route.ts';
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

/** 64 KiB of text, each byte of it percent-encoded, and the other fields. */
const maxFormBytes = 256 * 1024;

/** A form for those who may read: who may send it is asked by the use-case. A refused one shows the page again. */
const form = (name: string, page: Page<RepositoryContext, PullsDeps>): Route => ({
  method: 'POST',
  path: `${one}/${name}`,
  access: 'repository:read',
  cost: 'objects',
  maxFormBytes,
  page,
});

/** What a pull request changes. These precede `…/pulls/:number`, which matches the addresses with an ending, too. */
export const changesRoutes: readonly Route[] = [
  { method: 'GET', path: `${one}.diff`, access: 'repository:read', cost: 'objects', page: showPullDiff },
  { method: 'GET', path: `${one}.patch`, access: 'repository:read', cost: 'objects', page: showPullPatch },
  { method: 'GET', path: `${one}/changes`, access: 'repository:read', cost: 'objects', page: showChanges },
  form('review', submitReview),
  form('review/comments', postReviewComment),
  form('review/comments/edit', editReviewComment),
  form('review/comments/delete', deleteReviewComment),
  form('threads/:thread', resolveThread),
  form('viewed', markViewed),
  form('apply', applySuggestions),
];
