import type { PersonViewer, Scope, Viewer } from './viewer.ts';

/** The limits of a person's credential, recorded with what it did, for what follows from that later. */
export interface RecordedCredential {
  via: PersonViewer['via'];
  scope: Scope;
  /** A token may be limited to these repositories; `null` means all. */
  repositoryIds: readonly string[] | null;
}

/** Null for viewers that are no person: a task, the command line, anonymous clients. */
export function recordCredential(viewer: Viewer): RecordedCredential | null {
  if (viewer.kind !== 'person' || viewer.via === 'local') return null;
  const { via, scope, repositoryIds } = viewer;
  return { via, scope, repositoryIds };
}

/**
 * A person as their credential was when they acted. What was recorded without one, before credentials were, counts as
 * done by a token that may write to the one repository that it was done in.
 */
export function viewerWithCredential(
  personId: string,
  credential: RecordedCredential | null,
  repositoryId: string,
): PersonViewer {
  const limits = credential ?? { via: 'token', scope: 'write', repositoryIds: [repositoryId] };
  return { kind: 'person', id: personId, username: null, isAdministrator: false, ...limits };
}
