import type { Tx } from '../../db/index.ts';
import type { RunRow } from '../schema/run-schema.ts';

/**
 * The port through which other rooms hear of the end of a run, inside the write that ends
 * it: what they record is there exactly when the end is. A run that is started again ends again.
 */
export type RunEnding = (tx: Tx, run: RunRow) => Promise<void>;
