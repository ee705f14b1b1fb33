import type { Database } from '../db/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';

export interface OutboxDeps {
  db: Database;
  clock: Clock;
  logger: Logger;
}
