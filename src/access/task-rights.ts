import { allows } from './level.ts';
import type { TaskViewer } from './viewer.ts';

/** What `permissions` of a workflow may name. Those without a counterpart here are read, and open nothing. */
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

/** The levels of a task's token; a permission that is not named is not given. */
export type TaskPermissions = { readonly [name in TaskPermission]?: 'read' | 'write' };

/** What the token of a task stands for. */
export interface TaskCredential extends Pick<TaskViewer, 'taskId' | 'repositoryId'> {
  permissions: TaskPermissions;
}

/** What the tokens of a repository get where its workflows do not say: `write` all, or `read` contents and packages. */
export type DefaultTaskPermissions = 'read' | 'write';

/** `read-all` and `write-all`, and what is given by default. An identity token is only ever asked for by its name. */
export const allTaskPermissions = (level: 'read' | 'write', { idToken = false } = {}): TaskPermissions =>
  Object.fromEntries(taskPermissions.filter((name) => idToken || name !== 'id-token').map((name) => [name, level]));

/** The lower level of each permission: of a called workflow and its caller. */
export function lowerTaskPermissions(one: TaskPermissions, other: TaskPermissions): TaskPermissions {
  return fromLevels((name) => {
    const [a, b] = [one[name], other[name]];
    return a === undefined || b === undefined ? undefined : allows(a, b) ? b : a;
  });
}

/**
 * The policy of a task's token: what its workflow asks for, else the default of the repository. Of a run that is not
 * trusted it only reads, and gives no identity.
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

/** What a call or a protocol asks of a task; `metadata` is read by every task. */
export type TaskUse = TaskPermission | 'metadata';

/**
 * The viewer that a task is where one of some permissions counts, with the highest level that it has by them; null for
 * none. The rest of the policy decides by this viewer as by any other.
 */
export function taskViewer(
  { taskId, repositoryId, permissions }: TaskCredential,
  uses: readonly TaskUse[],
): TaskViewer | null {
  const levels = uses.map((use) => (use === 'metadata' ? 'read' : permissions[use]));
  const scope = levels.includes('write') ? 'write' : levels.includes('read') ? 'read' : null;
  return scope === null ? null : { kind: 'task', taskId, repositoryId, scope };
}

/** Whether the task gets tokens that prove its identity to others. */
export const mayProveIdentity = ({ permissions }: Pick<TaskCredential, 'permissions'>): boolean =>
  permissions['id-token'] === 'write';

function fromLevels(levelOf: (name: TaskPermission) => 'read' | 'write' | undefined): TaskPermissions {
  const levels = taskPermissions.map((name) => [name, levelOf(name)] as const);
  return Object.fromEntries(levels.filter(([, level]) => level !== undefined));
}
