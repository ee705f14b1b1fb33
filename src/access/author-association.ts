import { accessGrantsOf } from './access-grants.ts';
import { allows } from './level.ts';
import type { RepositoryFacts } from './repository-facts.ts';

/** Values of `author_association` for workflows, as GitHub spells them. */
export type AuthorAssociation = 'OWNER' | 'MEMBER' | 'COLLABORATOR' | 'NONE';

/**
 * The relation of an issue's or comment's author to the repository. Workflows use every value but `NONE` as a gate
 * before they do what a comment requests, so users without write access get none of them.
 * @param authorId null for authors without an account here
 * @param facts about the author
 */
export function authorAssociation(authorId: string | null, facts: RepositoryFacts): AuthorAssociation {
  const [strongest] = authorId === null ? [] : accessGrantsOf(authorId, facts);
  if (strongest === undefined || !allows(strongest.level, 'write')) return 'NONE';
  if (strongest.kind === 'owner') return 'OWNER';
  return facts.organisationRole === 'OWNER' || facts.organisationRole === 'MEMBER' ? 'MEMBER' : 'COLLABORATOR';
}
