import type { Needed } from '../../repositories/index.ts';

/**
 * Access declaration that every route must have (security D10). It is checked before the page runs and before a body is
 * read.
 *
 * - `open`: the same bytes for all clients; the viewer is not determined
 * - `public`: all clients, but the page may look different for signed-in viewers
 * - `newcomer`: a signed-in user who has not chosen a username yet
 * - `signed-in`: otherwise 303 to the sign-in page
 * - `administrator`: otherwise 404
 * - `repository:…`: at least this permission on the repository that the path names, or its ownership in the sense of
 *   SPEC §4.3; otherwise 404
 * - `organisation:owner`: an OWNER of the organisation that the path names; an anonymous client is sent to the sign-in
 *   page before any lookup, other users get the 404
 * - `api`: the handler requires its own credentials and ignores cookies; each operation declares its own callers
 * - `federation`: for other servers; the handler ignores cookies, verifies the signature of requests that change data,
 *   and responds with 404 while federation is off
 * - `task`: for jobs on a runner; the handler requires the token of the task or a signed URL, and ignores cookies
 * - `packages`: for package managers; the handler takes access tokens and the tokens of tasks, and ignores cookies
 * - `oauth`: for applications; the handler authenticates them, and redirects browsers to pages where the user decides
 * - `operator`: for monitoring; the handler accepts loopback clients and clients with the metrics token of the
 *   settings, otherwise 404
 */
export const accessDeclarations = [
  'open',
  'public',
  'newcomer',
  'signed-in',
  'administrator',
  'repository:read',
  'repository:write',
  'repository:admin',
  'repository:owner',
  'organisation:owner',
  'api',
  'federation',
  'task',
  'packages',
  'oauth',
  'operator',
] as const;

export type AccessDeclaration = (typeof accessDeclarations)[number];

/** The right that a `repository:…` declaration requires; null for other declarations. */
export function neededRight(access: AccessDeclaration): Needed | null {
  return access.startsWith('repository:') ? (access.slice('repository:'.length) as Needed) : null;
}
