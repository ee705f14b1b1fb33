import type { Tx } from '../../db/index.ts';

/**
 * Called inside the transaction that deletes a user; may throw to reject it.
 * @returns disk work to do after the commit
 */
export type AccountDeletionHook = (tx: Tx, personId: string) => Promise<() => Promise<void>>;
