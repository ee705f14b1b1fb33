import type { Viewer } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import type { EntryDetails } from '../entry.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import { findIssue } from '../find-issue.ts';
import type { IssueAt } from '../issue-context.ts';
import { withIssueWrite } from '../with-issue-write.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import { chargeRateLimit } from '../moderation/hold-newcomers.ts';
import type { CloseReason, Issue } from '../schema/issue-schema.ts';

const reasons: readonly string[] = ['completed', 'not_planned', 'duplicate'];

/** Throws `invalid_close_reason`. */
export function checkCloseReason(reason: string): void {
  if (!reasons.includes(reason))
    throw invalid('invalid_close_reason', 'Choose one of the listed reasons.', { field: 'reason' });
}

/** Closes an issue; a closed one stays closed. Throws `invalid_close_reason`. */
export async function closeIssue(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  reason: CloseReason = 'completed',
): Promise<Issue> {
  checkCloseReason(reason);
  chargeRateLimit(deps, viewer, await findIssue(deps, viewer, at));
  return withIssueWrite(deps, viewer, at, 'close', async (log, { issue }) => close(log, issue, reason));
}

export async function reopenIssue(deps: IssueDeps, viewer: Viewer, at: IssueAt): Promise<Issue> {
  chargeRateLimit(deps, viewer, await findIssue(deps, viewer, at));
  return withIssueWrite(deps, viewer, at, 'close', async (log, { issue }) => reopen(deps, log, issue));
}

/**
 * Runs in a transaction that has checked access.
 * @param cause cause of closing, `{ commit }`
 * @param origin makes it idempotent: `closes:<commit>`
 */
export async function close(
  log: EntryLog,
  issue: Issue,
  given: CloseReason,
  { cause = {}, origin }: { cause?: EntryDetails; origin?: string } = {},
): Promise<Issue> {
  if (issue.state !== 'OPEN') return issue;
  // A pull request is merged or closed, without a reason.
  const reason = issue.kind === 'PULL' ? null : given;
  const change = { state: 'CLOSED', closeReason: reason, closedAt: log.tx.now } as const;
  await log.tx.manager.update(issueSchema, { id: issue.id }, change);
  Object.assign(issue, change);
  const details = reason === null ? cause : { reason, ...cause };
  await log.append(issue, { kind: 'closed', details, ...(origin === undefined ? {} : { origin, via: 'git' }) });
  return issue;
}

/** `deps.reopenChecks` can keep it closed. */
export async function reopen(
  { reopenChecks }: Pick<IssueDeps, 'reopenChecks'>,
  log: EntryLog,
  issue: Issue,
): Promise<Issue> {
  if (issue.state !== 'CLOSED') return issue;
  for (const check of reopenChecks) await check(log.tx, issue);
  const change = { state: 'OPEN', closeReason: null, closedAt: null } as const;
  await log.tx.manager.update(issueSchema, { id: issue.id }, change);
  Object.assign(issue, change);
  await log.append(issue, { kind: 'reopened' });
  return issue;
}
