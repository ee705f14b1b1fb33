import type { Tx } from '../../db/index.ts';

/**
 * Called inside the write that deletes a person; may refuse by throwing.
 * @returns what remains to be done on disk after the commit
 */
export type AccountDeletionHook = (tx: Tx, personId: string) => Promise<() => Promise<void>>;
