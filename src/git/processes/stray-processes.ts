import { closeSync, openSync, readSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Ends git processes of an earlier run: a group outlives a server that was killed, and
 * would go on writing. They are known by their environment, which names the settings
 * file of this data folder; git commands that an administrator runs by hand are not ours.
 * Only where the system shows processes under /proc; elsewhere nothing happens.
 * For the start, before this run has processes of its own.
 *
 * @param program absolute path of git
 * @param settingsFile absolute path in their GIT_CONFIG_GLOBAL
 * @returns ids of the processes that were ended
 */
export async function endStrayProcesses(program: string, settingsFile: string): Promise<number[]> {
  const ended = new Set<number>();
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const strays = processesWith(path.basename(program), `GIT_CONFIG_GLOBAL=${settingsFile}`);
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

/** git's own programs, `git-upload-pack` as well; the system keeps as much of a name. */
const git = Buffer.from('git');
const longestName = 15;
/** More than the environment that a git process of ours is given. */
const longestEnvironmentBytes = 32 * 1024;

/** Reads at once, not in turns: a machine has hundreds of processes, and nothing else goes on at the start. */
function processesWith(programName: string, variable: string): number[] {
  const ours = Buffer.from(`${programName.slice(0, longestName)}\n`);
  const wanted = Buffer.from(`\0${variable}\0`);
  // Between two zero bytes, as each variable of an environment is.
  const environment = Buffer.alloc(1 + longestEnvironmentBytes + 1);
  const name = Buffer.alloc(longestName + 1);
  return namesBelow('/proc')
    .filter((id) => /^\d+$/.test(id) && Number(id) !== process.pid)
    .filter((id) => {
      // Whoever reads an environment waits for what its process does with its memory just then; a name is there at once.
      const called = name.subarray(0, readOf(id, 'comm', name));
      if (!called.subarray(0, git.length).equals(git) && !called.equals(ours)) return false;
      const end = 1 + readOf(id, 'environ', environment.subarray(1, -1));
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
function readOf(id: string, kind: 'comm' | 'environ', into: Buffer): number {
  let file: number | undefined;
  try {
    file = openSync(`/proc/${id}/${kind}`, 'r');
    return readSync(file, into);
  } catch {
    return 0;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
