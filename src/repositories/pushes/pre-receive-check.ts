import { allows, repositoryLevel } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { repositoryFacts } from '../find-repository.ts';
import type { Found } from '../find-repository.ts';
import { folderOf } from '../lifecycle/trash.ts';
import { moveSchema } from '../schema/transfer-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';

/**
 * The reason why a user may not write to a repository now, as the transaction sees it: the request's first check may be
 * an hour old. Called before the transaction changes anything.
 */
export async function preReceiveRefusal(
  deps: RepositoryDeps,
  tx: Tx,
  viewer: Viewer,
  opened: Pick<Found, 'path' | 'level'>,
  row: Repository,
  needed: 'read' | 'write' = 'write',
): Promise<string | null> {
  const facts = await repositoryFacts(deps, tx.before, viewer.kind === 'person' ? viewer.id : null, row);
  const level = repositoryLevel(viewer, facts);
  if (viewer.kind === 'deployKey') {
    const now = await deps.accounts.deployKeys.viewerOf(tx.before, viewer.id);
    if (now?.scope !== viewer.scope) return 'this deploy key is no longer accepted';
  }
  if (row.deletedAt !== null || level === 'none') return 'repository not found';
  if (!allows(level, needed)) return allows(opened.level, needed) ? 'you may no longer write here' : onlyForReview(row);
  // The mirror guard names the place to push to.
  if (row.archivedAt !== null && row.copiedFrom === null) return 'this repository is archived and read-only';
  if (await isMoving(deps, tx, opened, row)) return 'this repository has a new owner; push to its new address';
  for (const guard of deps.preReceiveChecks) {
    const reason = await guard(tx, row);
    if (reason !== null) return reason;
  }
  return null;
}

const onlyForReview = ({ defaultBranch }: Repository): string =>
  `you may not write here; to propose a change: git push origin HEAD:refs/for/${defaultBranch}`;

/** Whether the folder is being moved or was moved. */
export async function isMoving(
  deps: RepositoryDeps,
  { before }: Tx,
  opened: Pick<Found, 'path'>,
  row: Repository,
): Promise<boolean> {
  return folderOf(deps, row) !== opened.path || (await before.existsBy(moveSchema, { repositoryId: row.id }));
}
