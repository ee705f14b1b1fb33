import { allows, personViewer, refusalOnPull, repositoryLevel } from '../access/index.ts';
import type { IssueRefusal, PullAct, PullFacts, Viewer } from '../access/index.ts';
import { rowBy } from '../db/index.ts';
import type { RowSource, Tx } from '../db/index.ts';
import { factsOfIssue, issueSchema, refusalError } from '../issues/index.ts';
import type { Issue, IssueAt, IssueContext } from '../issues/index.ts';
import { invalid, notFound } from '../kernel/index.ts';
import type { PullDeps } from './deps.ts';
import { pullSchema } from './schema/pull-schema.ts';
import type { PullRow } from './schema/pull-schema.ts';

/** A pull request with the data for permission checks. */
export interface PullContext extends IssueContext {
  pull: PullRow;
}

const pullNotFound = () => notFound('pull_not_found', 'Pull request not found');

export const factsOfPull = (issue: Issue, pull: PullRow): PullFacts => ({
  ...factsOfIssue(issue),
  submitterId: pull.submitterId,
});

/** Throws the error of a policy refusal; does nothing for null. */
export function refuse(refusal: IssueRefusal | null): void {
  if (refusal === 'hidden') throw pullNotFound();
  if (refusal !== null) throw refusalError(refusal, 'PULL');
}

/** Throws `pull_closed` unless the pull request is open. */
export function requireOpen({ issue }: { issue: Issue }): void {
  if (issue.state !== 'OPEN') throw invalid('pull_closed', 'The pull request is not open.');
}

/** Finds a pull request that the viewer can read. Throws `repository_not_found`, `pull_not_found`. */
export async function findPull(
  deps: Pick<PullDeps, 'db' | 'issues'>,
  viewer: Viewer,
  at: IssueAt,
): Promise<PullContext> {
  const context = await deps.issues.pulls.find(viewer, at);
  const pull = await rowBy(deps.db.lookup, pullSchema, { issueId: context.issue.id });
  if (context.issue.kind !== 'PULL' || pull === null) throw pullNotFound();
  return { ...context, pull };
}

/** Finds a pull request by the id of its issue, for internal use; null if it was deleted or is in the trash. */
export async function pullById(
  { db }: Pick<PullDeps, 'db'>,
  issueId: string,
): Promise<{ issue: Issue; pull: PullRow } | null> {
  const [issue, pull] = await Promise.all([
    rowBy(db.lookup, issueSchema, { id: issueId }),
    rowBy(db.lookup, pullSchema, { issueId }),
  ]);
  return issue === null || pull === null || issue.deletedAt !== null ? null : { issue, pull };
}

/**
 * Reads a pull request inside a write, and checks the permission of the viewer with the data of the write. Throws the
 * errors of `refusalOnPull`.
 * @param isThreadAuthor for `resolve`
 */
export async function pullInWrite(
  deps: Pick<PullDeps, 'issues'>,
  tx: Tx,
  viewer: Viewer,
  at: { repositoryId: string; number: number },
  act: PullAct,
  isThreadAuthor = false,
): Promise<PullContext> {
  const context = await deps.issues.pulls.issueInWrite(tx, viewer, at, 'read');
  const pull = await tx.manager.findOneBy(pullSchema, { issueId: context.issue.id });
  if (pull === null) throw pullNotFound();
  refuse(refusalOnPull(viewer, context.facts, factsOfPull(context.issue, pull), act, isThreadAuthor));
  return { ...context, pull };
}

/** Folder of the repository of a pull request. */
export function pathOf(
  { git }: Pick<PullDeps, 'git'>,
  repository: { id: string; ownerUserId: string | null; ownerOrganisationId: string | null },
): string {
  return git.storage.pathOf((repository.ownerUserId ?? repository.ownerOrganisationId)!, repository.id);
}

/** Filters user ids to those with current write access to a repository. */
export function writersAmong(
  deps: Pick<PullDeps, 'repositories'>,
  repository: PullContext['repository'],
  userIds: readonly string[],
  source?: RowSource,
): Promise<Set<string>> {
  return peopleWith('write', deps, repository, userIds, source);
}

/** Filters user ids to those with current read access to a repository. */
export function readersAmong(
  deps: Pick<PullDeps, 'repositories'>,
  repository: PullContext['repository'],
  userIds: readonly string[],
): Promise<Set<string>> {
  return peopleWith('read', deps, repository, userIds);
}

async function peopleWith(
  level: 'read' | 'write',
  deps: Pick<PullDeps, 'repositories'>,
  repository: PullContext['repository'],
  userIds: readonly string[],
  source?: RowSource,
): Promise<Set<string>> {
  const people = new Set<string>();
  for (const id of new Set(userIds)) {
    const facts = await deps.repositories.factsOf(id, repository, source);
    if (allows(repositoryLevel(personViewer(id, 'admin'), facts), level)) people.add(id);
  }
  return people;
}
