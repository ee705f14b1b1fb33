import { bindDeps } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { reviewCandidates } from './review-candidates.ts';
import { changeRequests, listRequests, unansweredRequests } from './review-requests.ts';
import { listTeamRequests } from './team-requests.ts';
import { listAwaitingViewer, listAwaitingOthers } from './attention-lists.ts';

/** Review requests and turns; each function documents its errors. */
export function createAttentionService(deps: PullDeps) {
  const bind = bindDeps(deps);
  return {
    request: bind(changeRequests),
    requested: bind(listRequests),
    requestedTeams: bind(listTeamRequests),
    candidates: bind(reviewCandidates),
    unanswered: bind(unansweredRequests),
    waitingFor: bind(listAwaitingViewer),
    waitingForOthers: bind(listAwaitingOthers),
  };
}
