import type { Tx } from '../../db/index.ts';
import type { Repository } from '../schema/repository-schema.ts';

/**
 * Port through which other modules may refuse ref moves by users, for example for mirrors, which accept no pushes.
 * Returns the reason in one line for the user who pushes, or `null`. Runs inside the transaction that journals the
 * push, before it changes anything.
 */
export type PreReceiveCheck = (tx: Pick<Tx, 'before'>, repository: Repository) => Promise<string | null>;
