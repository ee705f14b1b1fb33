import { conflict } from '../../kernel/index.ts';
import type { Repository } from '../schema/repository-schema.ts';

/** Throws `repository_is_copy` for a copy of a remote repository, which stays public and read-only. */
export function refuseCopy({ copiedFrom }: Pick<Repository, 'copiedFrom'>): void {
  if (copiedFrom !== null)
    throw conflict(
      'repository_is_copy',
      'This is a kept copy of a repository on another server. It stays public, read-only and under your account. Turn it into your own repository first.',
    );
}
