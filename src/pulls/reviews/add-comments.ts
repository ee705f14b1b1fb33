import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { addComment } from './add-comment.ts';
import type { CommentPlace, NewReviewComment } from './add-comment.ts';
import { deleteComment } from './change-reviews.ts';

/** Adds comments to the viewer's draft review, all or nothing. Throws the errors of `addComment`. */
export async function addComments(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  comments: readonly Omit<NewReviewComment, 'sendNow'>[],
): Promise<CommentPlace[]> {
  const added: CommentPlace[] = [];
  try {
    for (const comment of comments) added.push(await addComment(deps, viewer, at, { ...comment, sendNow: false }));
  } catch (error) {
    for (const place of added.toReversed()) await deleteComment(deps, viewer, at, place);
    throw error;
  }
  return added;
}
