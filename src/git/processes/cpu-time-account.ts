import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { cpuMs } from './cpu-time.ts';

/**
 * What the children of this process have used that have ended, in milliseconds; null where
 * the system does not say. Steps of ten milliseconds, but true in the sum: of three
 * children that used three each, one shows.
 */
function usedByEndedMs(): number | null {
  try {
    return cpuMs(readFileSync('/proc/self/stat', 'latin1'), 'ended children');
  } catch {
    return null;
  }
}

/** Splits what ended children have used among them, as one after the other ends. */
export function createExitedTally(read = usedByEndedMs): () => number | null {
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
