import { bindDeps } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { reviewCandidates } from './review-candidates.ts';
import { changeRequests, listRequests, unansweredRequests } from './review-requests.ts';
import { knownTeamRequests, listTeamRequests } from './team-requests.ts';
import { listAwaitingViewer, listAwaitingOthers } from './attention-lists.ts';

/** Whose turn it is; the functions behind these names say what each refuses. */
export function createAttentionService(deps: PullDeps) {
  const bind = bindDeps(deps);
  return {
    request: bind(changeRequests),
    requested: bind(listRequests),
    requestedTeams: bind(listTeamRequests),
    /** Of several pull requests, by the id of the issue; for what has found them already. */
    requestedTeamsOf: bind(knownTeamRequests),
    candidates: bind(reviewCandidates),
    unanswered: bind(unansweredRequests),
    waitingFor: bind(listAwaitingViewer),
    waitingForOthers: bind(listAwaitingOthers),
  };
}
