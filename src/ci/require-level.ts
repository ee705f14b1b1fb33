import { allows, isLocalAdministrator } from '../access/index.ts';
import type { Level, Viewer } from '../access/index.ts';
import { forbidden, notFound } from '../kernel/index.ts';
import type { Found } from '../repositories/index.ts';

/** Refuses `repository_not_found` unless the repository was found with at least this level. */
export function requireLevel(found: Pick<Found, 'level'>, needed: Exclude<Level, 'none'>): void {
  if (!allows(found.level, needed)) throw notFound('repository_not_found', 'Repository not found');
}

/** Refuses `repository_archived`: an archived repository starts no runs. */
export function refuseArchived({ repository }: Pick<Found, 'repository'>): void {
  if (repository.archivedAt !== null)
    throw forbidden('repository_archived', 'This repository is archived and read-only.');
}

/** UUID of the viewer's account; null for the command line and every other viewer without a row. */
export function personIdOf(viewer: Viewer): string | null {
  return viewer.kind === 'person' && !isLocalAdministrator(viewer) ? viewer.id : null;
}
