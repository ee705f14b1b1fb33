import { scopeAllows } from '../access/index.ts';
import type { Scope, Viewer } from '../access/index.ts';
import { forbidden, isDomainError } from '../kernel/index.ts';
import type { Organisation, Organisations } from '../organisations/index.ts';
import type { Found, Needed, Repositories } from '../repositories/index.ts';
import { tokenNeeded } from './authenticate-token.ts';
import type { Operation } from './operation.ts';

type Finder = Pick<Repositories, 'find' | 'findMoved'>;

interface AuthorizationDeps {
  repositories: Finder;
  organisations: Pick<Organisations, 'findManaged'>;
}

/** What the path of a call names; `null` where it names none. */
export interface AuthorizedCall {
  found: Found | null;
  organisation: Organisation | null;
}

/** The scope without which a token cannot have a right, whatever its owner may do. */
const scopeFor: Record<Needed, Scope> = { none: 'read', read: 'read', write: 'write', admin: 'admin', owner: 'admin' };

interface RequiredAccess {
  needsToken: boolean;
  /** The least scope of a token. */
  scope: Scope;
  /** Whether a token that is limited to some repositories is refused. */
  wholeAccount: boolean;
  /** On the repository that the path names; null when it names none. */
  right: Needed | null;
}

/** The access that the declaration of an operation requires. */
export function requiredAccess({ access, scope }: Pick<Operation, 'access' | 'scope'>): RequiredAccess {
  if (access === 'administrator' || access === 'organisation:owner')
    return { needsToken: true, scope: 'admin', wholeAccount: true, right: null };
  const [kind, level] = access.split(':') as [string, Needed | undefined];
  const right = kind === 'repository' ? level! : null;
  return {
    needsToken: scope !== undefined || (kind !== 'anyone' && right !== 'read'),
    scope: scope ?? scopeFor[level ?? 'read'],
    wholeAccount: kind === 'account',
    right,
  };
}

/**
 * Authorizes a call as its operation declares, before any input is read.
 *
 * Refuses `token_needed`; `repository_not_found` for a repository that is absent, hidden
 * or out of the caller's rights; `insufficient_scope` for a token with too narrow a scope,
 * where the repository itself is no secret (security E03); `organisation_not_found`
 * to all but its OWNERs; `administrator_needed`.
 */
export async function authorizeCall(
  operation: Pick<Operation, 'access' | 'scope' | 'method' | 'takesTask'>,
  viewer: Viewer,
  params: Readonly<Record<string, string>>,
  { repositories, organisations }: AuthorizationDeps,
): Promise<AuthorizedCall> {
  const { needsToken, scope, wholeAccount, right } = requiredAccess(operation);
  // The scope of a task is for the policy: it is no person's.
  const isTask = viewer.kind === 'task' && operation.takesTask === true;
  if (needsToken && viewer.kind !== 'person' && !isTask) throw tokenNeeded();
  const { owner = '', name = '' } = params;
  const found =
    right === null ? null : await findReadable(repositories, viewer, owner, name, operation.method === 'GET');

  if (needsToken && !isTask && !scopeAllows(viewer, scope))
    throw insufficientScope(`This needs a token of scope ${scope}.`);
  if (wholeAccount && viewer.kind === 'person' && viewer.repositoryIds !== null) {
    throw insufficientScope('This needs a token that is not limited to some repositories.');
  }
  if (operation.access === 'administrator' && !(viewer.kind === 'person' && viewer.isAdministrator)) {
    throw forbidden('administrator_needed', 'This is for administrators of the server.');
  }
  const organisation =
    operation.access === 'organisation:owner' ? await organisations.findManaged(viewer, params['org'] ?? '') : null;
  if (found === null || right === null || right === 'read') return { found, organisation };
  return { found: await repositories.find(viewer, found.canonical.owner, found.canonical.name, right), organisation };
}

/** Old paths still read; nothing is changed through them. */
async function findReadable(
  repositories: Finder,
  viewer: Viewer,
  owner: string,
  name: string,
  followsMoves: boolean,
): Promise<Found> {
  try {
    return await repositories.find(viewer, owner, name);
  } catch (error) {
    if (!followsMoves || !isDomainError(error) || error.code !== 'not_found') throw error;
    const moved = await repositories.findMoved(viewer, owner, name);
    if (moved === null) throw error;
    return repositories.find(viewer, moved.owner, moved.name);
  }
}

const insufficientScope = (message: string) => forbidden('insufficient_scope', message);
