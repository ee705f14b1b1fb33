import type { OwnReason } from '../../issues/index.ts';
import { listPage, pageLinks } from '../app/list-page.view.ts';
import { page } from '../app/reply.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { IssuesDeps } from './deps.ts';
import { viewRows } from './issue-results.view.ts';

const reasons: readonly OwnReason[] = ['assigned', 'created', 'mentioned'];
const reasonWords: Record<OwnReason, string> = {
  assigned: 'Assigned to you',
  created: 'Opened by you',
  mentioned: 'Mentioning you',
};

/** `/dashboard/issues`: what concerns the person, over all repositories; `reason` and `state` say which. */
export const showOwnIssues: Page<PersonContext, IssuesDeps> = async ({ viewer, query }, deps) => {
  const reason = reasons.find((each) => each === query.get('reason')) ?? 'assigned';
  const state = query.get('state') === 'closed' ? 'closed' : 'open';
  const { rows, next, previous } = await listPage(
    (paging) => deps.issues.listOwn(viewer, { reason, state }, paging),
    query,
  );
  const located = await deps.repositories.locate(rows.map(({ repositoryId }) => repositoryId));
  const path = '/dashboard/issues';
  const address = (change: { reason?: OwnReason; state?: string }): string => {
    const chosen = { reason, state, ...change };
    const parameters = new URLSearchParams({
      ...(chosen.reason !== 'assigned' && { reason: chosen.reason }),
      ...(chosen.state !== 'open' && { state: chosen.state }),
    });
    return parameters.size === 0 ? path : `${path}?${parameters}`;
  };
  return page('issues/own-issues', {
    reason,
    state,
    tabs: reasons.map((each) => ({
      text: reasonWords[each],
      url: address({ reason: each }),
      isChosen: each === reason,
    })),
    states: (['open', 'closed'] as const).map((each) => ({
      text: each === 'open' ? 'Open' : 'Closed',
      url: address({ state: each }),
      isChosen: each === state,
    })),
    issues: await viewRows(deps, rows, located),
    ...pageLinks(
      path,
      { next, previous },
      {
        reason: reason === 'assigned' ? '' : reason,
        state: state === 'open' ? '' : state,
      },
    ),
  });
};
