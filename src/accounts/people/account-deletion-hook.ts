import type { Tx } from '../../db/index.ts';

/**
 * Hears that a person is about to go, inside the write that deletes them, and may refuse.
 * @returns what remains to be done on disk once the write is committed
 */
export type AccountDeletionHook = (tx: Tx, personId: string) => Promise<() => Promise<void>>;
