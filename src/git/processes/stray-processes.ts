import { closeSync, openSync, readSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Kills git processes of an earlier run: a process group outlives a killed server and would continue writing. They are
 * recognised by their environment, which names the settings file of this data folder; git commands that an
 * administrator runs manually do not match. Does nothing on systems without /proc. Called at start, before this run has
 * processes of its own.
 * @param program absolute path of git
 * @param settingsFile absolute path in their GIT_CONFIG_GLOBAL
 * @returns ids of the killed processes
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
    // The process has exited.
  }
}

/** Also matches git's own programs such as `git-upload-pack`; the kernel truncates longer names. */
const git = Buffer.from('git');
const longestName = 15;
/** Above the size of the environment that the server gives a git process. */
const longestEnvironmentBytes = 32 * 1024;

/** Synchronous: a machine has hundreds of processes, and nothing else runs during the start. */
function processesWith(programName: string, variable: string): number[] {
  const ours = Buffer.from(`${programName.slice(0, longestName)}\n`);
  const wanted = Buffer.from(`\0${variable}\0`);
  // In the environment, each variable is between two zero bytes.
  const environment = Buffer.alloc(1 + longestEnvironmentBytes + 1);
  const name = Buffer.alloc(longestName + 1);
  return namesBelow('/proc')
    .filter((id) => /^\d+$/.test(id) && Number(id) !== process.pid)
    .filter((id) => {
      // Reading an environment waits for the memory lock of its process; the name is available at once, so it is
      // checked first.
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
