import { readFile } from 'node:fs/promises';
import type { ProcessFacts } from '../web/index.ts';
import { embedded } from '../embedded/index.ts';

/** Information about the running program for administrators. The memory is null if the system has no /proc. */
export async function processFacts(): Promise<ProcessFacts> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return {
    version: embedded.version,
    startedAt: Math.round(performance.timeOrigin),
    residentBytes: kilobytes === undefined ? null : Number(kilobytes) * 1024,
  };
}
