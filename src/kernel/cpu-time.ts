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

/** Bytes of response that cost one millisecond of main-thread time, including the rows. */
const bytesPerMs = 50_000;

/** Charges for a response from the main thread: its time is not measured, but estimated from the length. */
export const chargeForAnswer = (bytes: number): void => currentCharge()?.(bytes / bytesPerMs);
