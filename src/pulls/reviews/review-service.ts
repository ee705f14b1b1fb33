import { bindDeps } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { addComment } from './add-comment.ts';
import { addComments } from './add-comments.ts';
import {
  deleteComment,
  discardReview,
  dismissReview,
  editComment,
  editReview,
  undismissReview,
} from './change-reviews.ts';
import { draftOf, listReviews } from './list-reviews.ts';
import { saveDraftText } from './draft-text.ts';
import { formatReviews } from './format-reviews.ts';
import { submitReview } from './submit-review.ts';
import { withdrawReview } from './withdraw-review.ts';

/** Reviews; each function documents its errors. */
export function createReviewService(deps: PullDeps) {
  const bind = bindDeps(deps);
  return {
    addComment: bind(addComment),
    addComments: bind(addComments),
    editComment: bind(editComment),
    deleteComment: bind(deleteComment),
    draftOf: bind(draftOf),
    submit: bind(submitReview),
    discard: bind(discardReview),
    list: bind(listReviews),
    /** Reviews formatted for a terminal. */
    text: bind(formatReviews),
    /** Edits the text of a submitted review. */
    edit: bind(editReview),
    dismiss: bind(dismissReview),
    undismiss: bind(undismissReview),
    saveDraftText: bind(saveDraftText),
    withdraw: bind(withdrawReview),
  };
}
