import type { z } from 'zod';
import type { Person } from '../accounts/index.ts';
import type { Organisation } from '../organisations/index.ts';
import type { Owner } from '../owners/index.ts';
import { numericId } from './numeric-id.ts';
import type { ServerPlace } from './place.ts';
import { giteaTime, noTime } from './time.ts';
import type { giteaUser } from './user-schema.ts';

export type UserPayload = z.output<typeof giteaUser>;

/** Fields of a user that are visible only to some readers. */
export interface UserDetails {
  /** Whether the reader is this user or an administrator. */
  isOwn?: boolean;
  /** The e-mail address that is visible to the reader. */
  email?: string;
  followers?: number;
  following?: number;
  starred?: number;
}

const nobody: UserPayload = {
  id: -1,
  login: 'ghost',
  login_name: '',
  source_id: 0,
  full_name: '',
  email: '',
  avatar_url: '',
  html_url: '',
  language: '',
  is_admin: false,
  last_login: noTime,
  created: noTime,
  restricted: false,
  active: false,
  prohibit_login: false,
  location: '',
  website: '',
  description: '',
  visibility: 'public',
  followers_count: 0,
  following_count: 0,
  starred_repos_count: 0,
  username: 'ghost',
};

/**
 * @param person null for a user without an account here, or with a deleted one
 */
export function userPayload(
  person: Person | null,
  { baseUrl }: Pick<ServerPlace, 'baseUrl'>,
  { isOwn = false, email = '', followers = 0, following = 0, starred = 0 }: UserDetails = {},
): UserPayload {
  if (person === null) return nobody;
  const login = person.username ?? 'ghost';
  return {
    ...nobody,
    id: numericId(person.id),
    login,
    full_name: person.displayName,
    email,
    avatar_url: `${baseUrl ?? ''}/avatars/${person.id}.svg`,
    html_url: `${baseUrl ?? ''}/users/${login}`,
    created: giteaTime(person.createdAt),
    website: person.website,
    description: person.bio,
    followers_count: followers,
    following_count: following,
    starred_repos_count: starred,
    username: login,
    ...(isOwn && {
      is_admin: person.isAdministrator,
      last_login: person.lastSeenAt === null ? noTime : giteaTime(person.lastSeenAt),
      active: true,
      prohibit_login: person.disabledAt !== null,
    }),
  };
}

/** An owner of repositories as a user. @param profile null if unknown */
export function ownerPayload(
  owner: Pick<Owner, 'id' | 'kind' | 'handle'>,
  profile: Person | Organisation | null,
  place: Pick<ServerPlace, 'baseUrl'>,
): UserPayload {
  if (profile !== null && 'bio' in profile) return userPayload(profile, place);
  const base = place.baseUrl ?? '';
  return {
    ...nobody,
    id: numericId(owner.id),
    login: owner.handle,
    full_name: profile?.displayName ?? '',
    avatar_url: `${base}/avatars/${owner.id}.svg`,
    html_url: `${base}/${owner.kind === 'user' ? 'users' : 'orgs'}/${owner.handle}`,
    created: profile === null ? noTime : giteaTime(profile.createdAt),
    description: profile?.description ?? '',
    username: owner.handle,
  };
}
