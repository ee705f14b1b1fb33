import type { Tx } from '../../db/index.ts';
import type { RunRow } from '../schema/run-schema.ts';

/**
 * Notifies other modules of the end of a run, inside the write that ends it, so that their records are committed with
 * it. A re-run run ends again.
 */
export type RunEndListener = (tx: Tx, run: RunRow) => Promise<void>;
