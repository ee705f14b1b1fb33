import type { ListedIssue } from '../../issues/index.ts';
import type { DescribedPull, DraftReview, PullRights } from '../../pulls/index.ts';

/** The submitted values of the form that submits a review. */
export interface ReviewFormInput {
  verdict: string;
  body: string;
  isOutdated: boolean;
}

/** The form that submits a review; null for a viewer who may not review. */
export function viewReviewForm(
  { issue, described: { pull } }: { issue: ListedIssue; described: DescribedPull },
  personId: string | undefined,
  { rights, draft, form }: { rights: PullRights; draft: DraftReview | null; form: ReviewFormInput | undefined },
) {
  if (rights('review') !== null) return null;
  return {
    pending: draft?.comments ?? 0,
    mayJudge: issue.state === 'OPEN' && issue.authorId !== personId && pull.submitterId !== personId,
    verdict: form?.verdict ?? 'COMMENT',
    body: form?.body ?? '',
    isOutdated: form?.isOutdated ?? false,
    lastRound: pull.lastRound,
  };
}
