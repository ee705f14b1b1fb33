import type { LfsRefusal } from '../access/index.ts';
import { forbidden, invalid, notFound, readableSize, unauthenticated, unavailable } from '../kernel/index.ts';
import type { DomainError } from '../kernel/index.ts';

export const lfsOff = (): DomainError =>
  invalid(
    'lfs_off',
    'Git LFS is disabled on this server: push the files without LFS, or set lfs.url to a server that stores them.',
  );

export const lfsOffHere = (): DomainError =>
  invalid('lfs_off_here', 'Git LFS is disabled for this repository. Its administrators can enable it in the settings.');

export const objectNotFound = (): DomainError =>
  notFound('lfs_object_not_found', 'This repository has no such object. Whoever has the file can push it again.');

export const objectLost = (): DomainError =>
  notFound(
    'lfs_object_lost',
    'The content of this object is missing on the server; the administrator can look for it.',
  );

/** Reasons about quotas: a retry does not help. */
export const overQuota = (message: string): DomainError => invalid('lfs_quota', message);

export const objectTooLarge = (maxBytes: number): DomainError =>
  invalid('lfs_object_too_large', `A file stored with Git LFS can be at most ${readableSize(maxBytes)}.`);

export const beingRemoved = (): DomainError =>
  unavailable('lfs_object_removing', 'An old copy of this object is being removed. Please try again in a moment.', {
    retryAfterSeconds: 2,
  });

export function errorOfRefusal(refusal: LfsRefusal): DomainError {
  switch (refusal) {
    case 'hidden':
      return notFound('repository_not_found', 'Repository not found');
    case 'sign_in':
      return unauthenticated('credentials_needed', 'Authentication required.');
    case 'archived':
      return forbidden('repository_archived', 'This repository is archived and read-only.');
    case 'level':
      return forbidden('read_only_access', 'You can read this repository, but you cannot change its files.');
  }
}
