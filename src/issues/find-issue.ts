import { refusalInRepository, refusalOnIssue } from '../access/index.ts';
import type {
  EntryFacts,
  IssueAct,
  IssueFacts,
  IssueRefusal,
  IssueRepositoryFacts,
  PersonViewer,
  Scope,
  Viewer,
} from '../access/index.ts';
import { rowBy } from '../db/index.ts';
import type { RowSource, Tx } from '../db/index.ts';
import { conflict, forbidden, notFound, unauthenticated } from '../kernel/index.ts';
import type { DomainError } from '../kernel/index.ts';
import { repositoryOf } from '../repositories/index.ts';
import type { Repository } from '../repositories/index.ts';
import type { IssueDeps } from './deps.ts';
import { issueSchema, issueSettingsSchema, movedIssueSchema } from './schema/issue-schema.ts';
import type { Issue, IssueKind, IssueSettings } from './schema/issue-schema.ts';
import { blockSchema } from './schema/moderation-schema.ts';

/** `{owner}/{name}` as a request spells it. */
export interface RepositoryAt {
  owner: string;
  name: string;
}

/** `{owner}/{name}#{number}`. */
export interface IssueAt extends RepositoryAt {
  number: number;
}

/** A repository with what decides about its issues. */
export interface RepositoryContext {
  repository: Repository;
  facts: IssueRepositoryFacts;
  settings: IssueSettings;
}

export interface IssueContext extends RepositoryContext {
  issue: Issue;
}

type FindDeps = Pick<IssueDeps, 'db' | 'repositories'>;

/** UUID of the person, or null for anonymous clients, tasks, and the command line, which is no account. */
export const personIdOf = (viewer: Viewer): string | null =>
  viewer.kind === 'person' && viewer.via !== 'local' ? viewer.id : null;

/** A user who is not here: for what is decided by their rights, as a session of theirs would have them. */
export const personViewer = (id: string, scope: Scope): PersonViewer => ({
  kind: 'person',
  id,
  username: null,
  isAdministrator: false,
  via: 'session',
  scope,
  repositoryIds: null,
});

export const ownerIdOf = (repository: Repository): string =>
  (repository.ownerUserId ?? repository.ownerOrganisationId)!;

export const entryNotFound = () => notFound('entry_not_found', 'Comment not found');
export const issueNotFound = () => notFound('issue_not_found', 'Issue not found');

export const factsOfIssue = ({ authorId, lockedAt, deletedAt, heldAt }: Issue): IssueFacts => ({
  authorId,
  locked: lockedAt !== null,
  deleted: deletedAt !== null,
  held: heldAt !== null,
});

/**
 * Gathers what the policy asks of a repository. @param source the lookups, or the manager of the write that decides
 * by it
 */
export async function repositoryContext(
  deps: Pick<IssueDeps, 'repositories'>,
  source: RowSource,
  personId: string | null,
  repository: Repository,
): Promise<RepositoryContext> {
  const facts = await deps.repositories.factsOf(personId, repository, source);
  const settings = (await rowBy(source, issueSettingsSchema, { repositoryId: repository.id })) ?? {
    repositoryId: repository.id,
    issuesFrom: 'anyone',
    holdsNewcomers: false,
    pullsFrom: 'anyone',
    deletesMergedBranches: false,
  };
  const blocked =
    personId !== null &&
    (await rowBy(source, blockSchema, { ownerId: ownerIdOf(repository), userId: personId })) !== null;
  return {
    repository,
    settings,
    facts: { ...facts, archived: repository.archivedAt !== null, issuesFrom: settings.issuesFrom, blocked },
  };
}

/** The same for issues of a kind: pull requests have a setting of their own. */
export function contextFor<Context extends RepositoryContext>(context: Context, kind: IssueKind): Context {
  if (kind === 'ISSUE') return context;
  return { ...context, facts: { ...context.facts, issuesFrom: context.settings.pullsFrom } };
}

/** Finds a repository for reading, or before a write. Refuses `repository_not_found` and what `refusalError` says. */
export async function findRepositoryContext(
  deps: FindDeps,
  viewer: Viewer,
  { owner, name }: RepositoryAt,
  act: 'read' | 'contribute' | 'triage' | 'manage' = 'read',
  kind: IssueKind = 'ISSUE',
): Promise<RepositoryContext> {
  const { repository } = await deps.repositories.find(viewer, owner, name);
  const found = await repositoryContext(deps, deps.db.lookup, personIdOf(viewer), repository);
  const context = contextFor(found, kind);
  refuse(refusalInRepository(viewer, context.facts, act), kind);
  return context;
}

/** The same again inside the write. Refuses `issue_not_found` when the repository has gone meanwhile. */
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

/** Finds an issue that the viewer may read. Refuses `repository_not_found`, `issue_not_found`. */
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

/** Inside a write: an issue, with the viewer's right judged by what the write sees. */
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

/** Where an issue is now whose number in this repository leads elsewhere; null when the viewer may not know. */
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

/** Throws what a refusal of the policy is in words; null passes. */
export function refuse(refusal: IssueRefusal | null, kind: IssueKind = 'ISSUE'): void {
  if (refusal !== null) throw refusalError(refusal, kind);
}

export function refusalError(refusal: IssueRefusal, kind: IssueKind = 'ISSUE'): DomainError {
  switch (refusal) {
    case 'hidden':
      return issueNotFound();
    case 'sign_in':
      return unauthenticated('sign_in_required', 'Please sign in.');
    case 'scope':
      return forbidden('token_may_not_write', 'This token may not write here.');
    case 'archived':
      return forbidden('repository_archived', 'This repository is archived and read-only.');
    case 'locked':
      return forbidden(
        'issue_locked',
        `This ${kind === 'PULL' ? 'pull request' : 'issue'} is locked: only those who may write here can add to it.`,
      );
    case 'issues_off':
      return kind === 'PULL'
        ? forbidden('pulls_off', 'This repository takes no pull requests.')
        : forbidden('issues_off', 'This repository takes no issues.');
    case 'blocked':
      return forbidden('blocked_by_owner', 'The owner of this repository does not let you contribute.');
    case 'members_only':
      return forbidden(
        'members_only',
        `Only members of this repository may open ${kind === 'PULL' ? 'pull requests' : 'issues'} and comment.`,
      );
    case 'level':
      return forbidden('not_allowed_on_issue', 'You may not do this here.');
  }
}

/** For a form that was made from an older text. */
export const revisionConflict = () =>
  conflict('text_changed_meanwhile', 'This text was changed meanwhile. Please look at it as it is now.');
