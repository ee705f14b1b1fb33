import type { PersonViewer, Scope, Viewer } from './viewer.ts';

/** Limits of the credential that performed an action, stored with it so that later effects obey them. */
export interface RecordedCredential {
  via: PersonViewer['via'];
  scope: Scope;
  /** A token may be limited to these repositories; `null` means all. */
  repositoryIds: readonly string[] | null;
}

/** Null for viewers that are not users: a task, the command line, anonymous clients. */
export function recordCredential(viewer: Viewer): RecordedCredential | null {
  if (viewer.kind !== 'person' || viewer.via === 'local') return null;
  const { via, scope, repositoryIds } = viewer;
  return { via, scope, repositoryIds };
}

/**
 * A user with the limits of the credential that they used. Actions recorded before credentials were stored count as
 * done by a token with write access to the single repository of the action.
 */
export function viewerWithCredential(
  personId: string,
  credential: RecordedCredential | null,
  repositoryId: string,
): PersonViewer {
  const limits = credential ?? { via: 'token', scope: 'write', repositoryIds: [repositoryId] };
  return { kind: 'person', id: personId, username: null, isAdministrator: false, ...limits };
}
