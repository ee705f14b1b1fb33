import type { Tx } from '../db/index.ts';
import type { RepositoryDeps } from './deps.ts';
import type { LifecycleEvent } from './ports/lifecycle-port.ts';

/** Calls the listeners for new and deleted repositories, inside the transaction of the event. */
export async function notifyLifecycle(
  { lifecycleListeners }: Pick<RepositoryDeps, 'lifecycleListeners'>,
  tx: Tx,
  event: LifecycleEvent,
): Promise<void> {
  for (const listener of lifecycleListeners) await listener(tx, event);
}
