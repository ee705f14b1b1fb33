import { AsyncLocalStorage } from 'node:async_hooks';

/** Receives the CPU time of work in milliseconds, possibly after the work itself has ended. */
type Charge = (ms: number) => void;

const charges = new AsyncLocalStorage<Charge>();

/** Attributes the CPU time of programs and worker threads that `work` starts to `charge`. */
export function chargeCpuTime<T>(charge: Charge, work: () => Promise<T>): Promise<T> {
  return charges.run(charge, work);
}

/** The account of work started now; null for none. */
export const currentCharge = (): Charge | null => charges.getStore() ?? null;

/** So much of an answer takes a millisecond of the main thread, its rows included. */
const bytesPerMs = 50_000;

/** Charges for an answer that the main thread has made: its time is not measured, but follows the length. */
export const chargeForAnswer = (bytes: number): void => currentCharge()?.(bytes / bytesPerMs);
