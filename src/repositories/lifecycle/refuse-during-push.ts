import { IsNull } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { conflict } from '../../kernel/index.ts';
import { pushSchema } from '../schema/push-schema.ts';

/**
 * Keeps a repository's folder in place while git works in it. Pushes are journalled before git may act and settled
 * after, so the journal lists running pushes of every process, and a later push sees the change of this transaction.
 * Throws `push_in_progress`.
 */
export async function refuseDuringPush({ manager }: Tx, repositoryId: string): Promise<void> {
  if (!(await manager.existsBy(pushSchema, { repositoryId, settledAt: IsNull() }))) return;
  throw conflict('push_in_progress', 'A push to this repository is in progress. Try again when it has finished.');
}
