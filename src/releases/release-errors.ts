import type { ReleaseRefusal } from '../access/index.ts';
import { conflict, forbidden, notFound, unauthenticated } from '../kernel/index.ts';
import type { DomainError } from '../kernel/index.ts';

export const releaseNotFound = () => notFound('release_not_found', 'Release not found');
export const fileNotFound = () => notFound('release_file_not_found', 'File not found');

export const releaseExists = (tag: string) =>
  conflict('release_exists', `A release for the tag ${tag} already exists.`, { field: 'tag' });

/** Throws the error of a policy refusal; does nothing for null. */
export function refuse(refusal: ReleaseRefusal | null): void {
  if (refusal !== null) throw refusalError(refusal);
}

function refusalError(refusal: ReleaseRefusal): DomainError {
  switch (refusal) {
    case 'hidden':
      return releaseNotFound();
    case 'sign_in':
      return unauthenticated('sign_in_required', 'Sign in to continue.');
    case 'archived':
      return forbidden('repository_archived', 'This repository is archived and read-only.');
    case 'scope':
      return forbidden('token_may_not_write', 'This token does not have write access here.');
    case 'level':
      return forbidden(
        'not_allowed_on_release',
        'Only people with write access to this repository can change its releases.',
      );
  }
}
