import { personIdOf, refusalInRepository, refusalOnIssue } from '../access/index.ts';
import type { EntryFacts, IssueAct, IssueRepositoryAct, Viewer } from '../access/index.ts';
import { rowBy } from '../db/index.ts';
import type { RowSource, Tx } from '../db/index.ts';
import { repositoryOf } from '../repositories/index.ts';
import type { IssueDeps } from './deps.ts';
import { contextFor, factsOfIssue, repositoryContext } from './issue-context.ts';
import type { IssueAt, IssueContext, RepositoryAt, RepositoryContext } from './issue-context.ts';
import { issueNotFound, refuse } from './issue-errors.ts';
import { issueSchema, movedIssueSchema } from './schema/issue-schema.ts';
import type { Issue, IssueKind } from './schema/issue-schema.ts';

type FindDeps = Pick<IssueDeps, 'db' | 'repositories'>;

/**
 * Finds a repository for reading, or before a transaction. Throws `repository_not_found` and the errors of
 * `refusalError`.
 */
export async function findRepositoryContext(
  deps: FindDeps,
  viewer: Viewer,
  { owner, name }: RepositoryAt,
  act: IssueRepositoryAct = 'read',
  kind: IssueKind = 'ISSUE',
): Promise<RepositoryContext> {
  const { repository } = await deps.repositories.find(viewer, owner, name);
  const found = await repositoryContext(deps, deps.db.lookup, personIdOf(viewer), repository);
  const context = contextFor(found, kind);
  refuse(refusalInRepository(viewer, context.facts, act), kind);
  return context;
}

/** Checks again inside the transaction. Throws `issue_not_found` if the repository is gone. */
export async function repositoryInWrite(
  deps: Pick<IssueDeps, 'repositories'>,
  tx: Tx,
  viewer: Viewer,
  repositoryId: string,
): Promise<RepositoryContext> {
  const repository = await repositoryOf(tx, repositoryId);
  if (repository === null) throw issueNotFound();
  return repositoryContext(deps, tx.manager, personIdOf(viewer), repository);
}

/** Finds an issue that the viewer can read. Throws `repository_not_found`, `issue_not_found`. */
export async function findIssue(deps: FindDeps, viewer: Viewer, at: IssueAt): Promise<IssueContext> {
  const found = await findRepositoryContext(deps, viewer, at);
  const issue = await issueByNumber(deps.db.lookup, found.repository.id, at.number);
  const context = contextFor(found, issue.kind);
  refuse(refusalOnIssue(viewer, context.facts, factsOfIssue(issue), 'read'), issue.kind);
  return { ...context, issue };
}

export async function issueByNumber(source: RowSource, repositoryId: string, number: number): Promise<Issue> {
  if (!Number.isSafeInteger(number) || number < 1) throw issueNotFound();
  const issue = await rowBy(source, issueSchema, { repositoryId, number });
  if (issue === null) throw issueNotFound();
  return issue;
}

/** Whether a number belongs to an issue or a pull request of the repository; null for neither. No access check. */
export async function kindOfIssue(
  { db }: Pick<IssueDeps, 'db'>,
  repositoryId: string,
  number: number,
): Promise<IssueKind | null> {
  if (!Number.isSafeInteger(number) || number < 1) return null;
  return (await rowBy(db.lookup, issueSchema, { repositoryId, number }))?.kind ?? null;
}

/** Finds an issue inside a transaction, and checks the viewer's permission there. */
export async function issueInWrite(
  deps: Pick<IssueDeps, 'repositories'>,
  tx: Tx,
  viewer: Viewer,
  { repositoryId, number }: { repositoryId: string; number: number },
  act: IssueAct,
  entry: EntryFacts | null = null,
): Promise<IssueContext> {
  const found = await repositoryInWrite(deps, tx, viewer, repositoryId);
  const issue = await issueByNumber(tx.manager, repositoryId, number);
  const context = contextFor(found, issue.kind);
  refuse(refusalOnIssue(viewer, context.facts, factsOfIssue(issue), act, entry), issue.kind);
  return { ...context, issue };
}

/** The current location of a moved issue by its old number; null if the viewer cannot see it. */
export async function findMovedIssue(deps: FindDeps, viewer: Viewer, at: IssueAt): Promise<Issue | null> {
  const { repository } = await findRepositoryContext(deps, viewer, at);
  const moved = await rowBy(deps.db.lookup, movedIssueSchema, { repositoryId: repository.id, number: at.number });
  const issue = moved === null ? null : await rowBy(deps.db.lookup, issueSchema, { id: moved.issueId });
  if (issue === null) return null;
  const located = (await deps.repositories.locate([issue.repositoryId])).get(issue.repositoryId);
  if (located === undefined) return null;
  const { facts } = await repositoryContext(deps, deps.db.lookup, personIdOf(viewer), located.repository);
  return refusalOnIssue(viewer, facts, factsOfIssue(issue), 'read') === null ? issue : null;
}
