import { allows } from './level.ts';
import type { TaskViewer } from './viewer.ts';

/** Names allowed in a workflow's `permissions`. Those without a counterpart here are parsed, but grant nothing. */
export const taskPermissions = [
  'actions',
  'attestations',
  'checks',
  'contents',
  'deployments',
  'discussions',
  'id-token',
  'issues',
  'packages',
  'pages',
  'pull-requests',
  'repository-projects',
  'security-events',
  'statuses',
] as const;

export type TaskPermission = (typeof taskPermissions)[number];

/** The permission levels of a task's token; omitted permissions are not granted. */
export type TaskPermissions = { readonly [name in TaskPermission]?: 'read' | 'write' };

/** The identity and permissions of a task's token. */
export interface TaskCredential extends Pick<TaskViewer, 'taskId' | 'repositoryId'> {
  permissions: TaskPermissions;
}

/**
 * Default permissions of a repository's tokens if its workflows do not set any: `write` everything, or `read` contents
 * and packages.
 */
export type DefaultTaskPermissions = 'read' | 'write';

/** `read-all` and `write-all`, and the default permissions. An identity token must always be requested by name. */
export const allTaskPermissions = (level: 'read' | 'write', { idToken = false } = {}): TaskPermissions =>
  Object.fromEntries(taskPermissions.filter((name) => idToken || name !== 'id-token').map((name) => [name, level]));

/** The lower level of each permission, of a called workflow and its caller. */
export function lowerTaskPermissions(one: TaskPermissions, other: TaskPermissions): TaskPermissions {
  return fromLevels((name) => {
    const [a, b] = [one[name], other[name]];
    return a === undefined || b === undefined ? undefined : allows(a, b) ? b : a;
  });
}

/**
 * The policy of a task's token: the permissions its workflow requests, else the repository's default. In an untrusted
 * run they are read-only and include no identity.
 */
export function grantedToTask(
  asked: TaskPermissions | null,
  { fallback, isTrusted }: { fallback: DefaultTaskPermissions; isTrusted: boolean },
): TaskPermissions {
  const byDefault = fallback === 'write' ? allTaskPermissions('write') : restricted;
  const granted = asked ?? byDefault;
  if (isTrusted) return granted;
  return fromLevels((name) => (name === 'id-token' || granted[name] === undefined ? undefined : 'read'));
}

const restricted: TaskPermissions = { contents: 'read', packages: 'read' };

/** The permission that a call or a protocol requires of a task; every task can read `metadata`. */
export type TaskUse = TaskPermission | 'metadata';

/**
 * The viewer of a task for an action that accepts any of some permissions, with the highest level they give; null for
 * none. The rest of the policy treats this viewer like any other.
 */
export function taskViewer(
  { taskId, repositoryId, permissions }: TaskCredential,
  uses: readonly TaskUse[],
): TaskViewer | null {
  const levels = uses.map((use) => (use === 'metadata' ? 'read' : permissions[use]));
  const scope = levels.includes('write') ? 'write' : levels.includes('read') ? 'read' : null;
  return scope === null ? null : { kind: 'task', taskId, repositoryId, scope };
}

/** Whether the task gets tokens that prove its identity to other services. */
export const mayProveIdentity = ({ permissions }: Pick<TaskCredential, 'permissions'>): boolean =>
  permissions['id-token'] === 'write';

function fromLevels(levelOf: (name: TaskPermission) => 'read' | 'write' | undefined): TaskPermissions {
  const levels = taskPermissions.map((name) => [name, levelOf(name)] as const);
  return Object.fromEntries(levels.filter(([, level]) => level !== undefined));
}
