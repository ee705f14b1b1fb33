import type { OwnReason } from '../../issues/index.ts';
import { t, translated } from '../../translation/index.ts';
import { listPage, pageLinks } from '../app/list-page.view.ts';
import { page } from '../app/reply.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { IssuesDeps } from './deps.ts';
import { viewRows } from './issue-results.view.ts';

const reasons: readonly OwnReason[] = ['assigned', 'created', 'mentioned'];
const reasonWords: Record<OwnReason, string> = translated({
  assigned: 'issues.own_issues.assigned_to_you',
  created: 'issues.own_issues.opened_by_you',
  mentioned: 'issues.own_issues.mentioning_you',
});

/** `/dashboard/issues`: the user's issues in all repositories; `reason` and `state` filter them. */
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
      text: each === 'open' ? t('issues.own_issues.open') : t('issues.own_issues.closed'),
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
