import type { PersonViewer, Viewer } from '../access/index.ts';

/** A viewer for a user without a session: for decisions by the rights that a session would have. */
export const personViewer = (id: string): PersonViewer => ({
  kind: 'person',
  id,
  username: null,
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});

/** UUID of the person; null for anonymous clients, tasks, and the command line, which is no account. */
export const personIdOf = (viewer: Viewer): string | null =>
  viewer.kind === 'person' && viewer.via !== 'local' ? viewer.id : null;
