import { countedApprovals, noMergeConditions } from '../../access/index.ts';
import { teamUrl } from '../../http/index.ts';
import type { MergeBox, PullRights, Pulls } from '../../pulls/index.ts';
import { t, translated } from '../../translation/index.ts';
import { viewPerson } from '../issues/people.view.ts';
import type { People, PersonView } from '../issues/people.view.ts';

type Reviews = Awaited<ReturnType<Pulls['reviews']['list']>>;
type Requests = Awaited<ReturnType<Pulls['attention']['requested']>>;
type TeamRequests = Awaited<ReturnType<Pulls['attention']['requestedTeams']>>;

interface ReviewerView extends PersonView {
  /** The last verdict, or that a review is pending. */
  verdict: { icon: string; tone: 'good' | 'bad' | 'wait' | 'quiet'; text: string };
  /** Requested as an owner of changed files. */
  isOwner: boolean;
  /** Whether the request can be removed: it has no review yet. */
  isAsked: boolean;
  /** The review whose verdict the viewer can dismiss. */
  dismissible: string | null;
  /** The name of a team, which has no picture. */
  isTeam: boolean;
}

interface ReviewersView {
  reviewers: ReviewerView[];
  mayAsk: boolean;
}

const asked: ReviewerView['verdict'] = translated({ icon: 'clock', tone: 'wait', text: 'pulls.reviewers.requested' });

/**
 * Requested and actual reviewers, each once, then the teams without a review. The last verdict of a user counts; a
 * comment does not change it.
 */
export function viewReviewers(
  {
    reviews,
    requests,
    teams,
    box,
  }: { reviews: Reviews; requests: Requests; teams: TeamRequests; box: MergeBox | null },
  rights: PullRights,
  known: People,
): ReviewersView {
  const last = new Map<string, Reviews[number]>();
  for (const review of reviews) {
    if (review.authorId === null || review.dismissedAt !== null) continue;
    const before = last.get(review.authorId);
    if (review.verdict !== 'COMMENT' || before === undefined || before.verdict === 'COMMENT')
      last.set(review.authorId, review);
  }
  const requestOf = new Map(requests.map((request) => [request.userId, request]));
  const counting = box === null ? null : countedApprovals(box.facts, box.rule?.merging ?? noMergeConditions);
  const ids = [...new Set([...requestOf.keys(), ...last.keys()])];
  const people = ids.map((id): ReviewerView => {
    const request = requestOf.get(id);
    const review = last.get(id);
    const isAsked = request !== undefined && request.answeredAt === null;
    return {
      ...viewPerson(id, known),
      verdict: isAsked || review === undefined ? asked : verdictOf(review, counting === null || counting.includes(id)),
      isOwner: request?.reason === 'owner',
      isAsked,
      isTeam: false,
      dismissible:
        review !== undefined && review.verdict !== 'COMMENT' && rights('dismiss') === null ? review.id : null,
    };
  });
  const waiting = teams
    .filter(({ answeredAt }) => answeredAt === null)
    .map(
      ({ organisation, team, reason }): ReviewerView => ({
        name: `${organisation}/${team}`,
        url: teamUrl(organisation, team),
        avatar: null,
        verdict: asked,
        isOwner: reason === 'owner',
        isAsked: true,
        isTeam: true,
        dismissible: null,
      }),
    );
  return {
    reviewers: [...people, ...waiting],
    mayAsk: rights('request_review') === null,
  };
}

/**
 * @param counts whether an approval applies to the last round
 */
function verdictOf({ verdict }: Reviews[number], counts: boolean): ReviewerView['verdict'] {
  if (verdict === 'REQUEST_CHANGES')
    return { icon: 'alert', tone: 'bad', text: t('pulls.reviewers.requested_changes') };
  if (verdict !== 'APPROVE') return { icon: 'comment', tone: 'quiet', text: t('pulls.reviewers.commented') };
  return counts
    ? { icon: 'check', tone: 'good', text: t('pulls.reviewers.approved') }
    : { icon: 'check', tone: 'quiet', text: t('pulls.reviewers.approved_not_counted') };
}

/** Ids of the users in the sidebar, whose names the page looks up. */
export const reviewersIn = (reviews: Reviews, requests: Requests): string[] => [
  ...reviews.flatMap(({ authorId }) => authorId ?? []),
  ...requests.map(({ userId }) => userId),
];
