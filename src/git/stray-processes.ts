import { closeSync, openSync, readSync, readdirSync } from 'node:fs';
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
      const strays = processesWith(`GIT_CONFIG_GLOBAL=${settingsFile}`);
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

/** More than the environment that a git process of ours is given. */
const longestEnvironmentBytes = 32 * 1024;

/** Reads at once, not in turns: a machine has hundreds of processes, and nothing else goes on at the start. */
function processesWith(variable: string): number[] {
  const wanted = Buffer.from(`\0${variable}\0`);
  // Between two zero bytes, as each variable of an environment is.
  const environment = Buffer.alloc(1 + longestEnvironmentBytes + 1);
  return namesBelow('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      const end = 1 + readEnvironment(name, environment.subarray(1, -1));
      environment[end] = 0;
      return environment.subarray(0, end + 1).includes(wanted);
    })
    .map(Number);
}

function namesBelow(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Processes of other users cannot be read; a zombie has no environment left. */
function readEnvironment(id: string, into: Buffer): number {
  let file: number | undefined;
  try {
    file = openSync(`/proc/${id}/environ`, 'r');
    return readSync(file, into);
  } catch {
    return 0;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
