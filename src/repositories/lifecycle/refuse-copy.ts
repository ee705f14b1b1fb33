import { conflict } from '../../kernel/index.ts';
import type { Repository } from '../schema/repository-schema.ts';

/** Refuses `repository_is_copy` for a kept copy, which stays public, read-only and with who keeps it. */
export function refuseCopy({ copiedFrom }: Pick<Repository, 'copiedFrom'>): void {
  if (copiedFrom !== null)
    throw conflict(
      'repository_is_copy',
      'This is a kept copy of a repository elsewhere: it stays public, read-only and yours. Make it your own first.',
    );
}
