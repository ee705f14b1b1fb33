import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict, forbidden } from '../../kernel/index.ts';
import { findAgain } from '../find-repository.ts';
import { sentence } from '../rules/describe-rule.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';

/**
 * Checks whether a user may move refs on a page, as the transaction sees it. Throws `repository_not_found`,
 * `repository_archived`, `push_refused`.
 */
export async function requireRefWrite(deps: RepositoryDeps, tx: Tx, viewer: Viewer, row: Repository): Promise<void> {
  await findAgain(deps, tx, viewer, row.id, 'write');
  await requireWritableRepository(deps, tx, row);
}

/**
 * Checks whether a repository accepts pushes at all: it is neither archived nor a mirror. Throws `repository_archived`,
 * `push_refused`.
 */
export async function requireWritableRepository(deps: RepositoryDeps, tx: Tx, row: Repository): Promise<void> {
  if (row.archivedAt !== null && row.copiedFrom === null)
    throw forbidden('repository_archived', 'This repository is archived and read-only.');
  for (const guard of deps.preReceiveChecks) {
    const reason = await guard(tx, row);
    if (reason !== null) throw conflict('push_refused', sentence(reason));
  }
}
