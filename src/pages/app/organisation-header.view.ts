import type { OrganisationRole } from '../../access/index.ts';
import type { Organisation } from '../../organisations/index.ts';
import { viewAvatar, type AvatarView } from './avatar.view.ts';
import { organisationUrl } from '../../http/index.ts';

/** The header of every page of an organisation: its profile and the tabs of this viewer. */
export interface OrganisationHeaderView {
  name: string;
  displayName: string;
  url: string;
  avatar: AvatarView;
  /** SPEC §4.4: only OWNERs see members, settings and the links to them. */
  isOwner: boolean;
  /** Members of the organisation see its teams. */
  isMember: boolean;
}

export function viewOrganisationHeader(
  { id, name, displayName }: Organisation,
  avatarAt: number | null,
  role: OrganisationRole | null,
): OrganisationHeaderView {
  const url = organisationUrl(name);
  const tabs = { isOwner: role === 'OWNER', isMember: role !== null };
  return { name, displayName, url, avatar: viewAvatar(id, avatarAt), ...tabs };
}
