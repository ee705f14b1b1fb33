import { readFile } from 'node:fs/promises';
import { cpuMs } from './cpu-time.ts';

/**
 * Watches the CPU time of a process and its descendants. A pack of some kilobytes can require hours of work: deltas
 * that each repeat the whole base a thousand times. Its size does not show this, so CPU time is limited. Without
 * `/proc`, nothing is watched.
 * @param pid of the first process; 0 until it is known
 * @param allowedMs current limit in milliseconds
 * @param onExceeded called once
 * @returns a function that ends the watch
 */
export function watchCpuTime(
  pid: () => number,
  everyMs: number,
  allowedMs: () => number,
  onExceeded: () => void,
): () => void {
  return watch(pid, everyMs, usedMs, allowedMs, onExceeded);
}

/**
 * Watches the private memory of a process and its descendants, without pages of files, which the system can reclaim. A
 * tree of some kilobytes can name an astronomical number of files, and git collects names before it writes the first.
 * @param allowedBytes memory limit
 * @returns a function that ends the watch
 */
export function watchMemory(
  pid: () => number,
  everyMs: number,
  allowedBytes: number,
  onExceeded: () => void,
): () => void {
  return watch(pid, everyMs, heldBytes, () => allowedBytes, onExceeded);
}

function watch(
  pid: () => number,
  everyMs: number,
  measure: (pid: number) => Promise<number>,
  allowed: () => number,
  onExceeded: () => void,
): () => void {
  let looking = false;
  const timer = setInterval(() => {
    if (looking || pid() === 0) return;
    looking = true;
    void measure(pid()).then((used) => {
      looking = false;
      if (used <= allowed()) return;
      clearInterval(timer);
      onExceeded();
    });
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** CPU time of a process, its living descendants, and those it has waited for. */
async function usedMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return cpuMs(stat, 'itself') + cpuMs(stat, 'ended children') + (await ofChildren(pid, usedMs));
}

/** Private memory of a process and its living descendants, in bytes; 0 for one that has ended. */
export async function heldBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  const kibibytes = Number(/^RssAnon:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0);
  return kibibytes * 1024 + (await ofChildren(pid, heldBytes));
}

/** The sum of a measure over the living children of a process. */
async function ofChildren(pid: number, measure: (pid: number) => Promise<number>): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => '');
  const each = await Promise.all(
    children
      .split(' ')
      .filter((id) => /^\d+$/.test(id))
      .map((id) => measure(Number(id))),
  );
  return each.reduce((sum, one) => sum + one, 0);
}
