import { conflict } from '../../kernel/index.ts';
import type { Repository } from '../schema/repository-schema.ts';

/** Throws `repository_is_copy` for a copy of a remote repository, which stays public and read-only. */
export function refuseCopy({ copiedFrom }: Pick<Repository, 'copiedFrom'>): void {
  if (copiedFrom !== null)
    throw conflict(
      'repository_is_copy',
      'This is a kept copy of a repository elsewhere: it stays public, read-only and yours. Make it your own first.',
    );
}
