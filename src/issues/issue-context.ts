import type { IssueFacts, IssueRepositoryFacts } from '../access/index.ts';
import { rowBy } from '../db/index.ts';
import type { RowSource } from '../db/index.ts';
import type { Repository } from '../repositories/index.ts';
import type { IssueDeps } from './deps.ts';
import { issueSettingsSchema } from './schema/issue-schema.ts';
import type { Issue, IssueKind, IssueSettings } from './schema/issue-schema.ts';
import { blockSchema } from './schema/moderation-schema.ts';

/** `{owner}/{name}` as spelled in the request. */
export interface RepositoryAt {
  owner: string;
  name: string;
}

/** `{owner}/{name}#{number}`. */
export interface IssueAt extends RepositoryAt {
  number: number;
}

/** A repository with the facts that decide about its issues. */
export interface RepositoryContext {
  repository: Repository;
  facts: IssueRepositoryFacts;
  settings: IssueSettings;
}

export interface IssueContext extends RepositoryContext {
  issue: Issue;
}

const ownerIdOf = (repository: Repository): string => (repository.ownerUserId ?? repository.ownerOrganisationId)!;

export const factsOfIssue = ({ authorId, lockedAt, deletedAt, heldAt }: Issue): IssueFacts => ({
  authorId,
  locked: lockedAt !== null,
  deleted: deletedAt !== null,
  held: heldAt !== null,
});

/**
 * Collects the policy's facts about a repository. @param source the row cache, or the manager of the deciding
 * transaction
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
    ciApproval: 'everyone',
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

/** The same for issues of a kind: pull requests have their own setting. */
export function contextFor<Context extends RepositoryContext>(context: Context, kind: IssueKind): Context {
  if (kind === 'ISSUE') return context;
  return { ...context, facts: { ...context.facts, issuesFrom: context.settings.pullsFrom } };
}
