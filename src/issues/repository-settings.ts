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

/** Who may open issues and comment in a repository, and whether newcomers wait. */
export async function issueSettings(deps: IssueDeps, viewer: Viewer, at: RepositoryAt): Promise<IssueSettings> {
  return (await findRepositoryContext(deps, viewer, at)).settings;
}

/**
 * What is left out stays. Refuses `invalid_issues_from`, `invalid_pulls_from`, `invalid_ci_approval`, and what the
 * rights refuse.
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

/** How many issues and pull requests are open and closed in a repository, for tabs; kept by triggers. */
export async function countIssues({ db }: Pick<IssueDeps, 'db'>, repositoryId: string): Promise<IssueCounts> {
  const [row] = await db.lookup(issueNumbersSchema, { repositoryId });
  const { openIssues = 0, closedIssues = 0, openPulls = 0, closedPulls = 0 } = row ?? {};
  return { openIssues, closedIssues, openPulls, closedPulls };
}

/** What a repository's head says of its issues and pull requests: whether it takes any, and how many are open. */
export interface IssueTab {
  isOn: boolean;
  open: number;
  pulls: { isOn: boolean; open: number };
}

/** Two rows of the row cache: every page of a repository asks. No access check. */
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
 * One statement, so one moment: repositories whose kept counts are not what counting anew gives, or whose last number
 * is below one that is given out; for the doctor.
 */
export const compareIssueCounts = `SELECT n.repository_id AS id FROM issue_numbers n WHERE n.last < ${highestNumber} OR ${Object.entries(
  actualCounts,
)
  .map(([column, actual]) => `n.${column} <> ${actual}`)
  .join(' OR ')}`;

/** Recomputes them for one repository, inside a write. A number that was given out is never given out again. */
export async function recountIssues({ manager }: Tx, repositoryId: string): Promise<void> {
  const set = Object.entries(actualCounts).map(([column, actual]) => `${column} = ${actual}`);
  await manager.query(
    `UPDATE issue_numbers AS n SET ${set.join(', ')},
       last = CASE WHEN last < ${highestNumber} THEN ${highestNumber} ELSE last END WHERE n.repository_id = ?`,
    [repositoryId],
  );
}
