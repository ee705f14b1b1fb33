import { refusalInRepository, refusalOnIssue } from '../access/index.ts';
import type { EntryFacts, IssueAct, IssueRefusal, IssueRepositoryAct, Viewer } from '../access/index.ts';
import type { IssueDeps } from './deps.ts';
import { findIssue, findRepositoryContext } from './find-issue.ts';
import { factsOfIssue } from './issue-context.ts';
import { refusalError } from './issue-errors.ts';
import type { IssueAt, RepositoryAt } from './issue-context.ts';
import type { IssueKind } from './schema/issue-schema.ts';

/** What a viewer may do with one issue: null allows an action. For pages, which show only the permitted forms. */
export type IssueRights = (act: IssueAct, entry?: EntryFacts) => IssueRefusal | null;

/** What a viewer may do in a repository without an issue. */
type RepositoryIssueRights = (act: Exclude<IssueRepositoryAct, 'read'>) => IssueRefusal | null;

/** The policy for a viewer and an issue, evaluated per action. Throws `repository_not_found`, `issue_not_found`. */
export async function rightsOnIssue(deps: IssueDeps, viewer: Viewer, at: IssueAt): Promise<IssueRights> {
  const { facts, issue } = await findIssue(deps, viewer, at);
  const issueFacts = factsOfIssue(issue);
  return (act, entry) => refusalOnIssue(viewer, facts, issueFacts, act, entry ?? null);
}

/** The same for a repository. Throws `repository_not_found`. */
export async function rightsInRepository(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  kind: IssueKind = 'ISSUE',
): Promise<RepositoryIssueRights> {
  const { facts } = await findRepositoryContext(deps, viewer, at, 'read', kind);
  return (act) => refusalInRepository(viewer, facts, act);
}

/** The reason for a refusal, as a sentence shown in place of the form. */
export const explainRefusal = (refusal: IssueRefusal, kind: IssueKind = 'ISSUE'): string =>
  refusalError(refusal, kind).message;
