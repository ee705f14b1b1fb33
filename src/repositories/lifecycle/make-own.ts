import type { RepositoryDeps } from '../deps.ts';
import { repositorySchema } from '../schema/repository-schema.ts';

/** Turns a kept copy into an ordinary repository that takes pushes. Its mirror has ended; the caller checks access. */
export async function makeOwn({ db }: RepositoryDeps, repositoryId: string): Promise<void> {
  await db.write(({ manager, now }) =>
    manager.update(repositorySchema, { id: repositoryId }, { copiedFrom: null, archivedAt: null, updatedAt: now }),
  );
}
