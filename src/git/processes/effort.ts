import { AsyncLocalStorage } from 'node:async_hooks';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { processorMs } from './processor-time.ts';

/** Hears what git has cost, in milliseconds of processor time; perhaps after the work itself has ended. */
export type Charge = (ms: number) => void;

const charges = new AsyncLocalStorage<Charge>();

/**
 * Tells what git costs on somebody's behalf: every process that `work` starts, and every
 * answer that it reads from one that runs already. Where the system does not say how much
 * processor time a process has used (no `/proc`), it is the time that it took.
 */
export function chargeGit<T>(charge: Charge, work: () => Promise<T>): Promise<T> {
  return charges.run(charge, work);
}

/** Who pays for what is started now; null for nobody. */
export const currentCharge = (): Charge | null => charges.getStore() ?? null;

/**
 * What the children of this process have used that have ended, in milliseconds; null where
 * the system does not say. Steps of ten milliseconds, but true in the sum: of three
 * children that used three each, one shows.
 */
function usedByEndedMs(): number | null {
  try {
    return processorMs(readFileSync('/proc/self/stat', 'latin1'), 'ended children');
  } catch {
    return null;
  }
}

/** Splits what ended children have used among them, as one after the other ends. */
export function createEndedTally(read = usedByEndedMs): () => number | null {
  let counted = 0;
  return () => {
    const now = read();
    if (now === null) return null;
    const used = now - counted;
    counted = now;
    return used;
  };
}

/** What one living process has used so far. */
export interface UsageOf {
  /** Milliseconds; null where the system does not say, or when it is gone. */
  ms(): number | null;
  close(): void;
}

/**
 * Of the first thread of a process, to the nanosecond: what a git of one thread has used.
 * @param pid of the process; 0 until it is known
 */
export function usageOf(pid: () => number): UsageOf {
  const buffer = Buffer.alloc(96);
  let file: number | null = null;
  let isClosed = false;
  return {
    ms() {
      try {
        if (isClosed || pid() === 0) return null;
        file ??= openSync(`/proc/${pid()}/schedstat`, 'r');
        const bytes = readSync(file, buffer, 0, buffer.length, 0);
        const nanoseconds = Number.parseInt(buffer.toString('latin1', 0, bytes), 10);
        return Number.isNaN(nanoseconds) ? null : nanoseconds / 1e6;
      } catch {
        return null;
      }
    },
    close() {
      isClosed = true;
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}
