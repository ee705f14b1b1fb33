import { allows } from '../access/index.ts';
import type { Level } from '../access/index.ts';
import { forbidden, notFound } from '../kernel/index.ts';
import type { Found } from '../repositories/index.ts';

/** Throws `repository_not_found` unless the viewer has at least this access level. */
export function requireLevel(found: Pick<Found, 'level'>, needed: Exclude<Level, 'none'>): void {
  if (!allows(found.level, needed)) throw notFound('repository_not_found', 'Repository not found');
}

/** Throws `repository_archived` if the repository is archived; it starts no runs. */
export function refuseArchived({ repository }: Pick<Found, 'repository'>): void {
  if (repository.archivedAt !== null)
    throw forbidden('repository_archived', 'This repository is archived and read-only.');
}
