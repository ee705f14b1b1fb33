import { IsNull } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { conflict } from '../../kernel/index.ts';
import { pushSchema } from '../schema/push-schema.ts';

/**
 * Keeps the folder of a repository in place while git works in it. A push is journalled before git may act and settled
 * after, so the journal knows it, whichever process asks; and a later push sees what this write has changed. Refuses
 * `push_in_progress`.
 */
export async function refuseDuringPush({ manager }: Tx, repositoryId: string): Promise<void> {
  if (!(await manager.existsBy(pushSchema, { repositoryId, settledAt: IsNull() }))) return;
  throw conflict('push_in_progress', 'A push to this repository is in progress. Try again when it has ended.');
}
