import { isLocalAdministrator } from './viewer.ts';
import { allows } from './level.ts';
import type { IssueRefusal } from './issue-rights.ts';
import type { OrganisationRole } from './repository-facts.ts';
import type { Viewer } from './viewer.ts';

/** Facts about an organisation's board that the policy needs. */
interface BoardFacts {
  /** The viewer's role in the organisation. */
  organisationRole: OrganisationRole | null;
  /** Whether everyone can see the board. */
  isPublic: boolean;
}

/** `edit` is to create boards, change their columns and move cards. */
export type BoardAct = 'read' | 'edit';

/**
 * The policy of organisation boards: members read them, everyone reads public ones, and members whose role gives write
 * access to the organisation's repositories edit them. Access to a card follows its issue. A token limited to
 * repositories only sees public boards. Repository boards follow `read` and `triage` of `refusalInRepository`. Null if
 * allowed.
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
