import type { Needed } from '../../repositories/index.ts';

/**
 * What every route must declare: who may come in, decided before its page runs
 * and before a body is read.
 *
 * - `open`: the same bytes for everybody; nobody asks who is looking
 * - `public`: anybody, but the page may look different for somebody signed in
 * - `newcomer`: somebody signed in who has not chosen a handle yet
 * - `signed-in`: otherwise 303 to the sign-in page
 * - `administrator`: otherwise 404
 * - `repository:…`: at least this right on the repository that the path names, or its
 *   ownership in the sense of SPEC §4.3; otherwise 404
 * - `organisation:owner`: an OWNER of the organisation that the path names; somebody
 *   signed out goes to the sign-in page before anything is looked up, others get the 404
 * - `api`: the handler asks for its own credentials and ignores cookies; each operation
 *   declares for itself who may call
 * - `federation`: for other servers; the handler ignores cookies, verifies a signature
 *   where something is done, and answers 404 while federation is off
 * - `task`: for what runs on a runner; the handler asks for the token of its task, or for an
 *   address that was signed for it, and ignores cookies
 * - `operator`: for monitoring; the handler lets in this machine and whoever brings the
 *   token of the settings, otherwise 404
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
  'operator',
] as const;

export type AccessDeclaration = (typeof accessDeclarations)[number];

/** What a `repository:…` declaration asks for; null for the others. */
export function neededRight(access: AccessDeclaration): Needed | null {
  return access.startsWith('repository:') ? (access.slice('repository:'.length) as Needed) : null;
}
