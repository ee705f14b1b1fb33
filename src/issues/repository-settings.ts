import { refusalInRepository, viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { Tx } from '../db/index.ts';
import { invalid } from '../kernel/index.ts';
import type { IssueDeps } from './deps.ts';
import { findRepositoryContext, repositoryInWrite } from './find-issue.ts';
import { refuse } from './issue-errors.ts';
import type { RepositoryAt } from './issue-context.ts';
import { issueNumbersSchema, issueSettingsSchema } from './schema/issue-schema.ts';
import type { IssueNumbers, IssueSettings } from './schema/issue-schema.ts';

const choices: readonly string[] = ['nobody', 'members', 'anyone'];
const approvals: readonly string[] = ['everyone', 'first_time'];

/** Who may open issues and comment in a repository, and whether newcomers' contributions are held. */
export async function issueSettings(deps: IssueDeps, viewer: Viewer, at: RepositoryAt): Promise<IssueSettings> {
  return (await findRepositoryContext(deps, viewer, at)).settings;
}

/**
 * Omitted fields stay. Throws `invalid_issues_from`, `invalid_pulls_from`, `invalid_ci_approval`, and permission
 * errors.
 */
export async function changeIssueSettings(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  change: Partial<Omit<IssueSettings, 'repositoryId'>>,
): Promise<void> {
  if (change.issuesFrom !== undefined && !choices.includes(change.issuesFrom))
    throw invalid('invalid_issues_from', 'Choose nobody, members or anyone.', { field: 'issues_from' });
  if (change.pullsFrom !== undefined && !choices.includes(change.pullsFrom))
    throw invalid('invalid_pulls_from', 'Choose nobody, members or anyone.', { field: 'pulls_from' });
  if (change.ciApproval !== undefined && !approvals.includes(change.ciApproval))
    throw invalid('invalid_ci_approval', 'Choose everyone or first_time.', { field: 'ci_approval' });
  const { repository } = await findRepositoryContext(deps, viewer, at, 'manage');
  await deps.db.write(async (tx) => {
    const context = await repositoryInWrite(deps, tx, viewer, repository.id);
    refuse(refusalInRepository(viewer, context.facts, 'manage'));
    await tx.manager.upsert(issueSettingsSchema, { ...context.settings, ...change }, ['repositoryId']);
  });
  deps.logger.info('issue.settings_changed', { repository: repository.id, ...change, by: viewerForLog(viewer) });
}

type IssueCounts = Omit<IssueNumbers, 'repositoryId' | 'last'>;

/** Numbers of open and closed issues and pull requests in a repository, for tabs; maintained by triggers. */
export async function countIssues({ db }: Pick<IssueDeps, 'db'>, repositoryId: string): Promise<IssueCounts> {
  const [row] = await db.lookup(issueNumbersSchema, { repositoryId });
  const { openIssues = 0, closedIssues = 0, openPulls = 0, closedPulls = 0 } = row ?? {};
  return { openIssues, closedIssues, openPulls, closedPulls };
}

/** Issues and pull requests in a repository header: whether they are enabled, and how many are open. */
export interface IssueTab {
  isOn: boolean;
  open: number;
  pulls: { isOn: boolean; open: number };
}

/** Two rows of the row cache, because every page of a repository needs them. No access check. */
export async function issueTab({ db }: Pick<IssueDeps, 'db'>, repositoryId: string): Promise<IssueTab> {
  const [settings] = await db.lookup(issueSettingsSchema, { repositoryId });
  const { openIssues, openPulls } = await countIssues({ db }, repositoryId);
  return {
    isOn: settings?.issuesFrom !== 'nobody',
    open: openIssues,
    pulls: { isOn: settings?.pullsFrom !== 'nobody', open: openPulls },
  };
}

const counted = (kind: string, state: string): string =>
  `(SELECT count(*) FROM issues i WHERE i.repository_id = n.repository_id AND i.kind = '${kind}' AND i.state ${state}
    AND i.deleted_at IS NULL AND i.held_at IS NULL)`;
const actualCounts = {
  open_issues: counted('ISSUE', "= 'OPEN'"),
  closed_issues: counted('ISSUE', "<> 'OPEN'"),
  open_pulls: counted('PULL', "= 'OPEN'"),
  closed_pulls: counted('PULL', "<> 'OPEN'"),
};
const highestNumber = '(SELECT coalesce(max(i.number), 0) FROM issues i WHERE i.repository_id = n.repository_id)';

/**
 * Repositories whose stored counts differ from a recount, or whose last number is below an allocated one; for the
 * doctor. One statement, so that it reads a consistent state.
 */
export const compareIssueCounts = `SELECT n.repository_id AS id FROM issue_numbers n WHERE n.last < ${highestNumber} OR ${Object.entries(
  actualCounts,
)
  .map(([column, actual]) => `n.${column} <> ${actual}`)
  .join(' OR ')}`;

/** Recomputes them for one repository, inside a transaction. Allocated numbers are never reused. */
export async function recountIssues({ manager }: Tx, repositoryId: string): Promise<void> {
  const set = Object.entries(actualCounts).map(([column, actual]) => `${column} = ${actual}`);
  await manager.query(
    `UPDATE issue_numbers AS n SET ${set.join(', ')},
       last = CASE WHEN last < ${highestNumber} THEN ${highestNumber} ELSE last END WHERE n.repository_id = ?`,
    [repositoryId],
  );
}
