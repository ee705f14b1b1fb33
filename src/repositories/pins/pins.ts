import { isLocalAdministrator, scopeAllows, visibleRepositories } from '../../access/index.ts';
import type { PersonViewer, Viewer } from '../../access/index.ts';
import { selectRows } from '../../db/index.ts';
import { forbidden, unauthenticated } from '../../kernel/index.ts';
import { findRepository } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { eachRow, withOwners } from '../list-repositories.ts';
import type { ListedRepository } from '../list-repositories.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import { pinSchema } from '../schema/pin-schema.ts';

/**
 * Appends a repository to the viewer's pins; idempotent. Requires read access. Throws `sign_in_required`,
 * `insufficient_scope`, `repository_not_found`.
 */
export async function pin(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<void> {
  const { id: userId } = whoPins(viewer);
  const { id: repositoryId } = (await findRepository(deps, viewer, at)).repository;
  await deps.db.write(async ({ manager }) => {
    if (await manager.existsBy(pinSchema, { userId, repositoryId })) return;
    const last = await manager.maximum(pinSchema, 'position', { userId });
    await manager.insert(pinSchema, { userId, repositoryId, position: (last ?? 0) + 1 });
  });
}

/** Removes a pin; a missing one is not an error. Throws what `pin` throws. */
export async function unpin(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<void> {
  const { id: userId } = whoPins(viewer);
  const { id: repositoryId } = (await findRepository(deps, viewer, at)).repository;
  await deps.db.write(({ manager }) => manager.delete(pinSchema, { userId, repositoryId }));
}

/**
 * Swaps a pin with its neighbour; no change at the end of the list. Skips pins that the viewer cannot see now. Throws
 * what `pin` throws.
 */
export async function movePin(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  direction: 'up' | 'down',
): Promise<void> {
  const { id: userId } = whoPins(viewer);
  const { id } = (await findRepository(deps, viewer, at)).repository;
  const shown = await listPins(deps, viewer);
  const index = shown.findIndex((pinned) => pinned.id === id);
  const neighbour = index === -1 ? undefined : shown[direction === 'up' ? index - 1 : index + 1];
  if (neighbour === undefined) return;
  await deps.db.write(async ({ manager }) => {
    const [mine, other] = [
      { userId, repositoryId: id },
      { userId, repositoryId: neighbour.id },
    ];
    const [here, there] = [await manager.findOneBy(pinSchema, mine), await manager.findOneBy(pinSchema, other)];
    if (here === null || there === null) return;
    await manager.update(pinSchema, mine, { position: there.position });
    await manager.update(pinSchema, other, { position: here.position });
  });
}

/**
 * A user's pins in their order, except for those that the viewer cannot read now: a pin reappears with the access.
 * @param personId whose pins; defaults to the viewer's
 */
export async function listPins(deps: RepositoryDeps, viewer: Viewer, personId?: string): Promise<ListedRepository[]> {
  const userId = personId ?? (viewer.kind === 'person' ? viewer.id : null);
  if (userId === null) return [];
  const visible = visibleRepositories(viewer, 'r');
  const rows = await selectRows(
    deps.db.read,
    repositorySchema,
    `SELECT r.* FROM pins pin JOIN repositories r ON r.id = pin.repository_id
     WHERE pin.user_id = :userId AND ${eachRow(visible.sql)} ORDER BY pin.position, r.id`,
    { ...visible.parameters, userId },
  );
  return withOwners(deps, rows);
}

/** Whether the viewer has pinned a visible repository; `null` for viewers without pins. */
export async function isPinned(deps: RepositoryDeps, viewer: Viewer, repositoryId: string): Promise<boolean | null> {
  if (viewer.kind !== 'person' || isLocalAdministrator(viewer)) return null;
  return (await deps.db.lookup(pinSchema, { userId: viewer.id, repositoryId })).length > 0;
}

function whoPins(viewer: Viewer): PersonViewer {
  if (viewer.kind !== 'person' || isLocalAdministrator(viewer)) {
    throw unauthenticated('sign_in_required', 'Sign in to pin repositories.');
  }
  if (!scopeAllows(viewer, 'write')) throw forbidden('insufficient_scope', 'This token is read-only.');
  return viewer;
}
