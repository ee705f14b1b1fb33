import type { Person } from '../accounts/index.ts';
import { numericId } from './numeric-id.ts';
import type { ServerPlace } from './place.ts';

/** A user in Gitea's form. */
export type UserPayload = {
  id: number;
  login: string;
  username: string;
  full_name: string;
  email: string;
  avatar_url: string;
  html_url: string;
};

/** @param person null for a user without an account here, or with none any more */
export function userPayload(person: Person | null, { baseUrl }: Pick<ServerPlace, 'baseUrl'>): UserPayload {
  const login = person?.username ?? 'ghost';
  return {
    id: person === null ? -1 : numericId(person.id),
    login,
    username: login,
    full_name: person?.displayName ?? '',
    // E-mail addresses are not disclosed.
    email: '',
    avatar_url: person === null ? '' : `${baseUrl ?? ''}/avatars/${person.id}.svg`,
    html_url: person === null ? '' : `${baseUrl ?? ''}/users/${login}`,
  };
}
