import type { Tx } from '../../db/index.ts';

/** A module that keeps something which follows what happened to other repositories while one was in the trash. */
export interface RestoreListener {
  /** Called inside the write that restores it. */
  record(tx: Tx, repositoryId: string): Promise<void>;
  /** Called once that write is durable; its errors are logged. */
  restored(repositoryId: string): Promise<void>;
}
