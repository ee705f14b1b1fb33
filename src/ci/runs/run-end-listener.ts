import type { Tx } from '../../db/index.ts';
import type { RunRow } from '../schema/run-schema.ts';

/**
 * Port that notifies other modules of the end of a run, inside the write that ends it: what they record is
 * committed exactly when the end is. A run that is re-run ends again.
 */
export type RunEndListener = (tx: Tx, run: RunRow) => Promise<void>;
