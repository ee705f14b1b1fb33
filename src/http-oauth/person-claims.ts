import type { Accounts } from '../accounts/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Owners } from '../owners/index.ts';

export interface ClaimsDeps {
  accounts: Pick<Accounts, 'personById' | 'addresses'>;
  owners: Pick<Owners, 'avatarAt'>;
  organisations: Pick<Organisations, 'organisationsOf' | 'teams'>;
}

/** Claims of a person by scope (OpenID Connect Core 1.0, 5.1 and 5.4; `groups` as Gitea has them). */
export const claimsByScope = {
  openid: ['sub'],
  profile: ['name', 'preferred_username', 'profile', 'picture', 'website', 'updated_at'],
  email: ['email', 'email_verified'],
  groups: ['groups'],
};

/** Names of organisations, and of teams as `organisation:team`. */
async function groupsOf({ organisations }: ClaimsDeps, personId: string): Promise<string[]> {
  const [memberships, teams] = await Promise.all([
    organisations.organisationsOf(personId),
    organisations.teams.ofPerson(personId),
  ]);
  return [
    ...memberships.map(({ organisation }) => organisation.name),
    ...teams.map(({ organisation, team }) => `${organisation.name}:${team.name}`),
  ];
}

/** The claims that the scopes give; null for a person who is gone, disabled or has no username yet. */
export async function claimsOf(
  deps: ClaimsDeps,
  { personId, scope, origin }: { personId: string; scope: string; origin: string },
): Promise<{ sub: string; [claim: string]: unknown } | null> {
  const person = await activePerson(deps, personId);
  if (person === null) return null;
  const scopes = new Set(scope.split(' '));
  const claims: { sub: string; [claim: string]: unknown } = { sub: person.id };
  if (scopes.has('profile')) {
    const avatarAt = await deps.owners.avatarAt(person.id);
    Object.assign(claims, {
      name: person.displayName || person.username,
      preferred_username: person.username,
      profile: `${origin}/${person.username}`,
      ...(avatarAt === null ? {} : { picture: `${origin}/avatars/${person.id}?v=${avatarAt}` }),
      ...(person.website === '' ? {} : { website: person.website }),
    });
  }
  if (scopes.has('email')) {
    const primary = await deps.accounts.addresses.primaryOf(person.id);
    if (primary !== null) Object.assign(claims, { email: primary, email_verified: true });
  }
  if (scopes.has('groups')) claims.groups = await groupsOf(deps, person.id);
  return claims;
}

/** A person who may sign in. */
export async function activePerson({ accounts }: Pick<ClaimsDeps, 'accounts'>, personId: string) {
  const person = await accounts.personById(personId).catch(() => null);
  return person === null || person.disabledAt !== null || person.username === null ? null : person;
}
