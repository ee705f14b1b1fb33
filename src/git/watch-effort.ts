import { readFile } from 'node:fs/promises';

/** Linux counts processor time for its readers in hundredths of a second. */
const tickMs = 10;

/**
 * Watches how much processor time a process and those that it started have used.
 *
 * A pack of some kilobytes can ask for hours of work: changes that each say "the same again,
 * a thousand times". Its size does not tell, so what it costs is watched. Where the system
 * does not tell (no `/proc`), nothing is watched.
 *
 * @param pid of the first process; 0 until it is known
 * @param allowedMs how much it may have used by now, in milliseconds
 * @param onExceeded called once
 * @returns a function that ends the watch
 */
export function watchEffort(pid: () => number, everyMs: number, allowedMs: () => number, onExceeded: () => void): () => void {
  let looking = false;
  const timer = setInterval(() => {
    if (looking || pid() === 0) return;
    looking = true;
    void usedMs(pid()).then((used) => {
      looking = false;
      if (used <= allowedMs()) return;
      clearInterval(timer);
      onExceeded();
    });
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Of a process, its living descendants, and those that it has waited for. */
async function usedMs(pid: number): Promise<number> {
  const [stat, children] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'latin1').catch(() => ''),
    readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => ''),
  ]);
  // Behind the name, which may contain anything: the third field and on (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + (Number(fields[at]) || 0), 0);
  const below = await Promise.all(children.split(' ').filter((id) => /^\d+$/.test(id)).map((id) => usedMs(Number(id))));
  return ticks * tickMs + below.reduce((sum, used) => sum + used, 0);
}
