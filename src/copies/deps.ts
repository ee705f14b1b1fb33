import type { Database } from '../db/index.ts';
import type { Federation } from '../federation/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';
import type { Mirrors } from '../mirrors/index.ts';
import type { Repositories } from '../repositories/index.ts';

/** Dependencies of the use-cases of this module. */
export interface CopyDeps {
  db: Database;
  federation: Pick<Federation, 'cloneSource'>;
  mirrors: Pick<Mirrors, 'copies' | 'find' | 'sync'>;
  repositories: Pick<Repositories, 'listByIds' | 'locate' | 'trash' | 'makeOwn'>;
  clock: Clock;
  logger: Logger;
  settings: CopySettings;
}

interface CopySettings {
  /** What one copy may have, all copies of one person, and all copies, in bytes; 0 for one of them: no copies. */
  maxBytes: number;
  userQuotaBytes: number;
  totalQuotaBytes: number;
  /** How long a copy stays after it was unfollowed, in milliseconds. */
  graceMs: number;
}
