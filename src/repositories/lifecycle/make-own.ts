import type { RepositoryDeps } from '../deps.ts';
import { repositorySchema } from '../schema/repository-schema.ts';

/**
 * Turns a copy of a remote repository into an ordinary one that accepts pushes. Its mirror has ended; the caller checks
 * access.
 */
export async function makeOwn({ db }: RepositoryDeps, repositoryId: string): Promise<void> {
  await db.write(({ manager, now }) =>
    manager.update(repositorySchema, { id: repositoryId }, { copiedFrom: null, archivedAt: null, updatedAt: now }),
  );
}
