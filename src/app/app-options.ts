import type { Origin } from '../config/index.ts';
import type { ControlCommand } from '../control/index.ts';
import type { WriterConnection } from '../db/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';

export interface AppOptions {
  logger: Logger;
  clock?: Clock;
  random?: Random;
  /** Called after a storage failure that makes continuing unsafe: the program must exit. */
  onStorageFault?: (error: unknown) => void;
  /** Called when another process serves the database under the name of this one: the program must exit. */
  onReplaced?: (sentence: string) => void;
  /** The write connection, if it was opened while this file was being loaded. */
  writing?: WriterConnection;
  /** Source of each setting, for the settings page. */
  origins?: ReadonlyMap<string, Origin>;
  /** Reloads the settings of a running server. */
  reload?: () => Promise<object>;
  /** Control commands in addition to those of the modules. */
  controlCommands?: Readonly<Record<string, ControlCommand>>;
}
