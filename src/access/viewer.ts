/**
 * The client of a request. Every transport turns its credential into a `Viewer`; code behind it does not depend on how
 * the user signed in.
 */

/** The maximum scope of a credential. A session and an SSH key have `admin`. */
export type Scope = 'read' | 'write' | 'admin';

interface AnonymousViewer {
  kind: 'anonymous';
}

export interface PersonViewer {
  kind: 'person';
  /** UUID of the user. */
  id: string;
  /** `null` until the user has chosen a handle (SPEC §2.4). */
  username: string | null;
  isAdministrator: boolean;
  via: 'session' | 'token' | 'key' | 'local';
  scope: Scope;
  /** A token may be limited to these repositories; `null` means all. */
  repositoryIds: readonly string[] | null;
}

/**
 * A task that a CI runner executes. It acts for one repository, not for a user; elsewhere it is an anonymous client.
 */
export interface TaskViewer {
  kind: 'task';
  /** For log messages. */
  taskId: number;
  repositoryId: string;
  scope: 'read' | 'write';
}

/**
 * A deploy key: an SSH key of one repository. It does not represent a user, and is not a credential for any other
 * repository.
 */
export interface DeployKeyViewer {
  kind: 'deployKey';
  /** UUID of the key. */
  id: string;
  /** Shown as the author of a push. */
  title: string;
  repositoryId: string;
  scope: 'read' | 'write';
}

export type Viewer = AnonymousViewer | PersonViewer | TaskViewer | DeployKeyViewer;

export const anonymous: AnonymousViewer = Object.freeze({ kind: 'anonymous' });

/** Whether this is the command line. The system user who can run the program already owns every file. */
export function isLocalAdministrator(viewer: Viewer): boolean {
  return viewer.kind === 'person' && viewer.via === 'local';
}

/**
 * The viewer of the command line. It has no row in `users`: its permissions come from access to the data folder, so
 * `repositoryLevel` returns `admin` for it.
 */
export const localAdministrator: PersonViewer = Object.freeze({
  kind: 'person',
  id: '00000000-0000-0000-0000-000000000000',
  username: null,
  isAdministrator: true,
  via: 'local',
  scope: 'admin',
  repositoryIds: null,
});

/**
 * The viewer of administration pages for content of other owners: the permissions of the command line, under the
 * administrator's name. Other users keep their own permissions.
 */
export const asInstanceAdministrator = (viewer: Viewer): Viewer =>
  viewer.kind === 'person' && viewer.isAdministrator && viewer.via === 'session'
    ? { ...localAdministrator, id: viewer.id, username: viewer.username }
    : viewer;

/** The actor of a log line: the user's UUID, `local` for the command line, `task 12`, `deploy key UUID`. */
export function viewerForLog(viewer: Viewer): string {
  if (viewer.kind === 'anonymous') return 'anonymous';
  if (viewer.kind === 'task') return `task ${viewer.taskId}`;
  if (viewer.kind === 'deployKey') return `deploy key ${viewer.id}`;
  return viewer.id === localAdministrator.id ? 'local' : viewer.id;
}

/**
 * UUID of the user, or null for anonymous clients, tasks, deploy keys, and the command line, which is not an account.
 */
export const personIdOf = (viewer: Viewer): string | null =>
  viewer.kind === 'person' && viewer.via !== 'local' ? viewer.id : null;

/** An account with the permissions that its session would have, if none is open. */
export const accountViewer = ({
  id,
  username,
  isAdministrator,
}: Pick<PersonViewer, 'id' | 'username' | 'isAdministrator'>): PersonViewer => ({
  ...personViewer(id, 'admin'),
  username,
  isAdministrator,
});

/** A viewer for a user without a session: for decisions with the permissions that a session would have. */
export const personViewer = (id: string, scope: Scope): PersonViewer => ({
  kind: 'person',
  id,
  username: null,
  isAdministrator: false,
  via: 'session',
  scope,
  repositoryIds: null,
});
