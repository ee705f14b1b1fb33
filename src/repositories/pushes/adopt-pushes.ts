import { rows } from '../../db/index.ts';
import { belongsHere, belongsToNobody } from '../../nodes/index.ts';
import type { RepositoryDeps } from '../deps.ts';

/**
 * Takes over unfinished pushes of nodes that have disappeared: one node claims each and finishes it as its own. A
 * living node keeps its pushes, because their clients may be waiting for git there.
 */
export async function adoptPushes({ db, logger }: Pick<RepositoryDeps, 'db' | 'logger'>): Promise<void> {
  if (db.node === null) return;
  const left = `SELECT p.id FROM pushes p WHERE p.announced_at IS NULL
    AND (p.node IS NULL OR NOT ${belongsHere(db, 'p.node')}) AND ${belongsToNobody('p.node')} ORDER BY p.created_at, p.id`;
  // Nearly always there are none, and then nothing is written.
  const found = await rows(db.read, `${left} LIMIT 1`);
  if (found.length === 0) return;
  const adopted = await db.write(({ manager }) =>
    rows(manager, `UPDATE pushes SET node = ? WHERE id IN (${left} LIMIT 10000) RETURNING id`, [db.node]),
  );
  logger.warn('push.adopted', { pushes: adopted.length });
}
