import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { cpuMs } from './cpu-time.ts';

/**
 * CPU time of the exited children of this process, in milliseconds; null if the system does not report it. Its
 * resolution is ten milliseconds, but the sum is exact: of three children with three milliseconds each, one shows.
 */
function usedByEndedMs(): number | null {
  try {
    return cpuMs(readFileSync('/proc/self/stat', 'latin1'), 'ended children');
  } catch {
    return null;
  }
}

/** Divides the CPU time of exited children among them, as they exit one by one. */
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

/** CPU time that one living process has used so far. */
interface UsageOf {
  /** In milliseconds; null if the system does not report it, or after its exit. */
  ms(): number | null;
  close(): void;
}

/**
 * CPU time of the first thread of a process, with nanosecond resolution: the whole CPU time of a single-threaded git.
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
