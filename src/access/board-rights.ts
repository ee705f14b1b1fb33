import { isLocalAdministrator } from './viewer.ts';
import { allows } from './level.ts';
import type { IssueRefusal } from './issue-rights.ts';
import type { OrganisationRole } from './repository-facts.ts';
import type { Viewer } from './viewer.ts';

/** What the policy of an organisation's boards needs to know. */
interface BoardFacts {
  /** The viewer's role in the organisation. */
  organisationRole: OrganisationRole | null;
  /** Whether the board is for everyone. */
  isPublic: boolean;
}

/** `edit` is to make boards, to change their columns and to move cards. */
export type BoardAct = 'read' | 'edit';

/**
 * The policy of the boards of organisations: members read them, everyone reads those that are public, and those who may
 * write in the repositories of the organisation by their role edit them. What a card shows is asked of its issue. A
 * token that is limited to repositories knows of public ones alone. The boards of a repository go by `read` and
 * `triage` of `refusalInRepository`. Null when allowed.
 */
export function refusalOnBoard(
  viewer: Viewer,
  { organisationRole, isPublic }: BoardFacts,
  act: BoardAct,
): IssueRefusal | null {
  if (isLocalAdministrator(viewer)) return null;
  const role = viewer.kind === 'person' && viewer.repositoryIds === null ? organisationRole : null;
  if (role === null && !isPublic) return 'hidden';
  if (act === 'read') return null;
  if (viewer.kind === 'anonymous') return 'sign_in';
  if (viewer.kind !== 'person' || (role !== 'MEMBER' && role !== 'OWNER')) return 'level';
  return allows(viewer.scope, 'write') ? null : 'scope';
}
