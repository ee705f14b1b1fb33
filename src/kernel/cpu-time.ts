import { AsyncLocalStorage } from 'node:async_hooks';

/** Hears what work has cost, in milliseconds of processor time; perhaps after the work itself has ended. */
export type Charge = (ms: number) => void;

const charges = new AsyncLocalStorage<Charge>();

/** Tells what is done on somebody's behalf costs: whatever `work` has programs and worker threads do for it. */
export function chargeCpuTime<T>(charge: Charge, work: () => Promise<T>): Promise<T> {
  return charges.run(charge, work);
}

/** Who pays for what is started now; null for nobody. */
export const currentCharge = (): Charge | null => charges.getStore() ?? null;
