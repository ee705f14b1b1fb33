import { allows, scopeAllows, taskViewer } from '../access/index.ts';
import type { Scope, TaskCredential, Viewer } from '../access/index.ts';
import { forbidden, isDomainError } from '../kernel/index.ts';
import type { Issues } from '../issues/index.ts';
import type { Organisation, Organisations } from '../organisations/index.ts';
import type { Found, Needed, Repositories } from '../repositories/index.ts';
import { tokenNeeded } from './authenticate-token.ts';
import type { Caller } from './authenticate-token.ts';
import { requiredTaskPermissions } from './task-permissions.ts';
import type { Operation } from './operation.ts';

type Finder = Pick<Repositories, 'find' | 'findMoved'>;

interface AuthorizationDeps {
  repositories: Finder;
  issues: Pick<Issues, 'kindOf'>;
  organisations: Pick<Organisations, 'findManaged'>;
}

/** The repository or organisation in the path of a call; `null` if the path has none. */
interface AuthorizedCall {
  /** The caller; for a task with its permissions for this operation. */
  viewer: Viewer;
  found: Found | null;
  organisation: Organisation | null;
}

/** The scope that a token needs for a right, whatever rights its owner has. */
const scopeFor: Record<Needed, Scope> = { none: 'read', read: 'read', write: 'write', admin: 'admin', owner: 'admin' };

interface RequiredAccess {
  needsToken: boolean;
  /** Minimum scope of a token. */
  scope: Scope;
  /** Whether tokens limited to some repositories are refused. */
  wholeAccount: boolean;
  /** Right on the repository in the path; null if the path has none. */
  right: Needed | null;
}

/** The access that an operation's declaration requires. */
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
 * Authorizes a call according to its operation's declaration, before any input is read.
 *
 * Throws `token_needed`; `repository_not_found` for a repository that is absent, hidden or outside the caller's rights;
 * `insufficient_scope` for a token with too narrow a scope, if the caller may know of the repository (security E03),
 * and for a task without the permission; `organisation_not_found` to all but its OWNERs; `administrator_needed`.
 */
export async function authorizeCall(
  operation: Pick<Operation, 'id' | 'tag' | 'path' | 'access' | 'scope' | 'method'>,
  caller: Caller,
  params: Readonly<Record<string, string>>,
  deps: AuthorizationDeps,
): Promise<AuthorizedCall> {
  const { repositories, organisations } = deps;
  const { needsToken, scope, wholeAccount, right } = requiredAccess(operation);
  const viewer = caller.task === null ? caller.viewer : await viewerOfTask(operation, caller.task, params, deps);
  const isTask = viewer.kind === 'task';
  if (needsToken && viewer.kind !== 'person' && !isTask) throw tokenNeeded();
  const { owner = '', name = '' } = params;
  const found = right === null ? null : await findReadable(repositories, viewer, owner, name);

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
  if (found === null || right === null || right === 'read') return { viewer, found, organisation };
  return {
    viewer,
    found: await repositories.find(viewer, found.canonical.owner, found.canonical.name, right),
    organisation,
  };
}

/**
 * The viewer of a task for an operation. Its token gives access to its own repository; elsewhere it can only read
 * public data. Throws `insufficient_scope` if its permissions are too narrow, `token_needed` if only users may call the
 * operation.
 */
async function viewerOfTask(
  operation: Pick<Operation, 'id' | 'tag' | 'path' | 'access' | 'method'>,
  task: TaskCredential,
  { owner = '', name = '', number = '' }: Readonly<Record<string, string>>,
  { repositories, issues }: Pick<AuthorizationDeps, 'repositories' | 'issues'>,
): Promise<Viewer> {
  const needs = requiredTaskPermissions(operation);
  if (needs === null) throw tokenNeeded();
  const uses = [...needs.uses];
  if (needs.mayBePull) {
    const reader = taskViewer(task, ['metadata'])!;
    const found = await findReadable(repositories, reader, owner, name);
    if ((await issues.kindOf(found.repository.id, Number(number))) === 'PULL') uses.push('pull-requests');
  }
  const viewer = taskViewer(task, uses);
  const needed = operation.method === 'GET' ? 'read' : 'write';
  if (viewer === null || !allows(viewer.scope, needed))
    throw insufficientScope(`This needs "permissions: ${uses.join(' or ')}: ${needed}" in the workflow.`);
  return viewer;
}

/** Names from before a rename or transfer work for every method: programs do not repeat a redirected call. */
async function findReadable(repositories: Finder, viewer: Viewer, owner: string, name: string): Promise<Found> {
  try {
    return await repositories.find(viewer, owner, name);
  } catch (error) {
    if (!isDomainError(error) || error.code !== 'not_found') throw error;
    const moved = await repositories.findMoved(viewer, owner, name);
    if (moved === null) throw error;
    return repositories.find(viewer, moved.owner, moved.name);
  }
}

const insufficientScope = (message: string) => forbidden('insufficient_scope', message);
