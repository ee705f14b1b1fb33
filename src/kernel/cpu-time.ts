import { AsyncLocalStorage } from 'node:async_hooks';

/** Receives the CPU time of work in milliseconds, possibly after the work itself has ended. */
export type Charge = (ms: number) => void;

const charges = new AsyncLocalStorage<Charge>();

/** Attributes the CPU time of programs and worker threads that `work` starts to `charge`. */
export function chargeCpuTime<T>(charge: Charge, work: () => Promise<T>): Promise<T> {
  return charges.run(charge, work);
}

/** The account of work started now; null for none. */
export const currentCharge = (): Charge | null => charges.getStore() ?? null;
