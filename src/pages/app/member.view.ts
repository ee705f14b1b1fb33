import type { ExplainedAccess, Collaborator } from '../../repositories/index.ts';
import type { Member } from '../../organisations/index.ts';
import { viewAvatar, type AvatarView } from './avatar.view.ts';
import { viewTime, type TimeView } from './times.view.ts';
import { personUrl } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import { describeGrant, roleName } from './role-names.view.ts';

/** Upload times of these users' pictures. */
type AvatarTimes = ReadonlyMap<string, { avatarAt: number | null }>;

/** One user with a role, in the lists of members and collaborators. */
interface MemberView {
  username: string;
  displayName: string;
  url: string;
  avatar: AvatarView;
  role: string;
  since: TimeView;
  /** Their effective access with its reason, when it exceeds the role. */
  stronger: string | null;
}

function viewPerson({ person, role, since }: Member | Collaborator, pictures: AvatarTimes, now: number): MemberView {
  const username = person.username ?? '';
  return {
    username,
    displayName: person.displayName,
    url: personUrl(username),
    avatar: viewAvatar(person.id, pictures.get(person.id)?.avatarAt ?? null),
    role,
    since: viewTime(since, now),
    stronger: null,
  };
}

export function viewMember(member: Member, pictures: AvatarTimes, now: number): MemberView {
  return viewPerson(member, pictures, now);
}

/** The higher of both permissions counts (SPEC §5); the list shows it with its reason. */
export function viewCollaborator(collaborator: Collaborator, pictures: AvatarTimes, now: number): MemberView {
  const { role, access } = collaborator;
  return {
    ...viewPerson(collaborator, pictures, now),
    stronger: access.level === role ? null : describeAccess(access),
  };
}

/** `admin, as owner of the organisation`. */
export function describeAccess({ level, grants: [deciding] }: ExplainedAccess): string {
  const name = roleName(level);
  return deciding === undefined ? name : t('people.level_as_grant', { level: name, grant: describeGrant(deciding) });
}
