import type { Tx } from '../../db/index.ts';

/** A module whose data tracks other repositories and must catch up after a stay in the trash. */
export interface RestoreListener {
  /** Called inside the restoring transaction. */
  record(tx: Tx, repositoryId: string): Promise<void>;
  /** Called once that transaction is durable; its errors are logged. */
  restored(repositoryId: string): Promise<void>;
}
