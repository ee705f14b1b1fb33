import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Ends git processes of an earlier run: a group outlives a server that was killed, and
 * would go on writing. They are known by their environment, which names the settings
 * file of this data folder; git commands that an administrator runs by hand are not ours.
 * Only where the system shows processes under /proc; elsewhere nothing happens.
 * For the start, before this run has processes of its own.
 *
 * @param settingsFile absolute path in their GIT_CONFIG_GLOBAL
 * @returns ids of the processes that were ended
 */
export async function endStrayProcesses(settingsFile: string): Promise<number[]> {
  const ended = new Set<number>();
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const strays = await processesWith(`GIT_CONFIG_GLOBAL=${settingsFile}`);
      if (strays.length === 0) return [...ended];
      for (const pid of strays) {
        if (attempt === 0 || !ended.has(pid)) end(pid, signal);
        ended.add(pid);
      }
      await sleep(100);
    }
  }
  return [...ended];
}

function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself.
  }
}

async function processesWith(variable: string): Promise<number[]> {
  const wanted = Buffer.from(variable).toString('latin1');
  const names = await readdir('/proc').catch(() => []);
  const found: number[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    // Processes of other users cannot be read; a zombie has no environment left.
    const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '');
    if (environment.split('\0').includes(wanted)) found.push(Number(name));
  }
  return found;
}
