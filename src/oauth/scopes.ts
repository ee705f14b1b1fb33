import type { Scope } from '../access/index.ts';
import { apiScopeNames, scopeFor } from '../accounts/index.ts';

/** Scopes that tell who a person is, and give no access to anything else (OpenID Connect Core 1.0, 5.4). */
const identityScopes = ['openid', 'profile', 'email', 'groups', 'offline_access'] as const;

/** All that an application may ask for: the above, and Gitea's names of scopes of tokens. */
export const scopeNames: readonly string[] = [...identityScopes, ...apiScopeNames];

const isIdentityScope = (name: string): boolean => (identityScopes as readonly string[]).includes(name);

/**
 * The scopes that a client of Gitea means. Gitea gives everything to a client without a scope and to one whose scopes
 * it does not know. `repository`, as tea sends it, is `write:repository`.
 *
 * @param scope as in RFC 6749, 3.3
 */
export function scopesMeant(scope: string): string {
  const asked = scope.split(' ').filter((name) => name !== '');
  const meant = asked.map((name) => (scopeNames.includes(`write:${name}`) ? `write:${name}` : name));
  return meant.some((name) => scopeNames.includes(name)) ? meant.join(' ') : 'all';
}

/**
 * What a token may do by the names of its scopes: the least of read, write and admin that gives them all; null where
 * they only tell who the person is. For git and the API a token is never more than its person.
 */
export function accessOfScopes(names: readonly string[]): Scope | null {
  const asked = names.filter((name) => !isIdentityScope(name));
  return asked.length === 0 ? null : scopeFor(asked);
}

/** Whether they give packages and nothing else. */
export const isOnlyPackages = (names: readonly string[]): boolean =>
  names.filter((name) => !isIdentityScope(name)).every((name) => name.endsWith(':package'));

const words: Readonly<Record<string, string>> = {
  openid: 'Know which account you have here',
  profile: 'See your username, name and picture',
  email: 'See your primary email address',
  groups: 'See the organisations and teams that you are a member of',
};

const accessWords: Readonly<Record<Scope, string>> = {
  read: 'Read everything that you can read, private repositories included',
  write: 'Read everything that you can read, and push to repositories, issues and pull requests as you',
  admin: 'Do everything that you can do, settings and deletions included',
};

const packageWords = { read: 'Download packages that you can see', write: 'Download and publish packages as you' };

/** The scopes as a person reads them before they allow an application: one sentence each. */
export function describeScopes(names: readonly string[]): string[] {
  const access = accessOfScopes(names);
  const identity = names.map((name) => words[name]).filter((each) => each !== undefined);
  if (access === null) return identity;
  const use = isOnlyPackages(names) ? packageWords[access === 'read' ? 'read' : 'write'] : accessWords[access];
  return [...identity, use];
}
