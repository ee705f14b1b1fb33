import type { Tx } from '../../db/index.ts';
import type { Repository } from '../schema/repository-schema.ts';

/**
 * The port through which other rooms may keep people from moving refs: a copy of
 * somebody else's repository takes no pushes. Answers the reason, in one line for
 * whoever pushes, or `null`. Runs inside the write that journals the push, before
 * it changes anything.
 */
export type PreReceiveCheck = (tx: Pick<Tx, 'before'>, repository: Repository) => Promise<string | null>;
