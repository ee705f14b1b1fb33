import type { Tx } from '../../db/index.ts';
import type { Repository } from '../schema/repository-schema.ts';

/**
 * The port through which other modules may refuse ref moves by people: a mirror accepts no pushes. Returns the reason,
 * in one line for the person who pushes, or `null`. Runs inside the write that journals the push, before it changes
 * anything.
 */
export type PreReceiveCheck = (tx: Pick<Tx, 'before'>, repository: Repository) => Promise<string | null>;
