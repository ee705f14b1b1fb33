import { accessGrantsOf } from './access-grants.ts';
import { allows } from './level.ts';
import type { RepositoryFacts } from './repository-facts.ts';

/** What workflows read as `author_association`; the words are those of GitHub. */
export type AuthorAssociation = 'OWNER' | 'MEMBER' | 'COLLABORATOR' | 'NONE';

/**
 * How the author of an issue or a comment belongs to the repository. Workflows use every word but `NONE` as a gate
 * before they do what a comment asks for, so who may not write has none of them.
 * @param authorId null for authors without an account here
 * @param facts the author's
 */
export function authorAssociation(authorId: string | null, facts: RepositoryFacts): AuthorAssociation {
  const [strongest] = authorId === null ? [] : accessGrantsOf(authorId, facts);
  if (strongest === undefined || !allows(strongest.level, 'write')) return 'NONE';
  if (strongest.kind === 'owner') return 'OWNER';
  return facts.organisationRole === 'OWNER' || facts.organisationRole === 'MEMBER' ? 'MEMBER' : 'COLLABORATOR';
}
