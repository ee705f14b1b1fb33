/**
 * The client of a request. Every transport turns its credential into a `Viewer`; code behind it does not depend on how
 * the person signed in.
 */

/** The most that a credential may do. A session and an SSH key carry `admin`. */
export type Scope = 'read' | 'write' | 'admin';

interface AnonymousViewer {
  kind: 'anonymous';
}

export interface PersonViewer {
  kind: 'person';
  /** UUID of the user. */
  id: string;
  /** `null` until the person has chosen a handle (SPEC §2.4). */
  username: string | null;
  isAdministrator: boolean;
  via: 'session' | 'token' | 'key' | 'local';
  scope: Scope;
  /** A token may be limited to these repositories; `null` means all. */
  repositoryIds: readonly string[] | null;
}

/**
 * A task that a CI runner executes. It acts for one repository and for no person; elsewhere it is an anonymous client.
 */
export interface TaskViewer {
  kind: 'task';
  /** For the log. */
  taskId: number;
  repositoryId: string;
  scope: 'read' | 'write';
}

/**
 * A deploy key: an SSH key of one repository. It stands for no person, and for every other repository it is no
 * credential at all.
 */
export interface DeployKeyViewer {
  kind: 'deployKey';
  /** UUID of the key. */
  id: string;
  /** Shown as who pushed. */
  title: string;
  repositoryId: string;
  scope: 'read' | 'write';
}

export type Viewer = AnonymousViewer | PersonViewer | TaskViewer | DeployKeyViewer;

export const anonymous: AnonymousViewer = Object.freeze({ kind: 'anonymous' });

/** Whether this is the command line. The user who may run the program already owns every file. */
export function isLocalAdministrator(viewer: Viewer): boolean {
  return viewer.kind === 'person' && viewer.via === 'local';
}

/**
 * The viewer of the command line. It has no row in `users`: its rights come from access to the data folder, so
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
 * The viewer of the administration pages for what is not theirs: the rights of the command line, under the name of the
 * administrator. Anyone else keeps the rights that they have.
 */
export const asInstanceAdministrator = (viewer: Viewer): Viewer =>
  viewer.kind === 'person' && viewer.isAdministrator && viewer.via === 'session'
    ? { ...localAdministrator, id: viewer.id, username: viewer.username }
    : viewer;

/** The actor of a log line: the person's UUID, `local` for the command line, `task 12`, `deploy key UUID`. */
export function viewerForLog(viewer: Viewer): string {
  if (viewer.kind === 'anonymous') return 'anonymous';
  if (viewer.kind === 'task') return `task ${viewer.taskId}`;
  if (viewer.kind === 'deployKey') return `deploy key ${viewer.id}`;
  return viewer.id === localAdministrator.id ? 'local' : viewer.id;
}

/** UUID of the person, or null for anonymous clients, tasks, deploy keys, and the command line, which is no account. */
export const personIdOf = (viewer: Viewer): string | null =>
  viewer.kind === 'person' && viewer.via !== 'local' ? viewer.id : null;

/** An account with the rights that a session of it would have, where none is open. */
export const accountViewer = ({
  id,
  username,
  isAdministrator,
}: Pick<PersonViewer, 'id' | 'username' | 'isAdministrator'>): PersonViewer => ({
  ...personViewer(id, 'admin'),
  username,
  isAdministrator,
});

/** A viewer for a user without a session: for decisions by the rights that a session would have. */
export const personViewer = (id: string, scope: Scope): PersonViewer => ({
  kind: 'person',
  id,
  username: null,
  isAdministrator: false,
  via: 'session',
  scope,
  repositoryIds: null,
});
