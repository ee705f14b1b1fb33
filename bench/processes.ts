// What Linux tells of a server's whole process tree.
import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;

interface Stat {
  parent: number;
  /** Own time and that of children that have ended and were waited for, in seconds. */
  cpuS: number;
}

function stat(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name is in parentheses and may contain anything; the numbers follow it.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return { parent: fields[1]!, cpuS: (fields[11]! + fields[12]! + fields[13]! + fields[14]!) / ticksPerSecond };
  } catch {
    return null;
  }
}

/** The process and everything below it. */
export function treeOf(root: number): number[] {
  const children = Map.groupBy(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number),
    (pid) => stat(pid)?.parent ?? -1,
  );
  const found: number[] = [];
  const open = [root];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    found.push(pid);
    open.push(...(children.get(pid) ?? []));
  }
  return found;
}

/**
 * The same in milliseconds, of all threads that are alive now, to the nanosecond; what has ended meanwhile is missing.
 * For one answer, of which hundredths of a second tell nothing.
 */
export function cpuMsOfThreads(root: number): number {
  let ns = 0;
  for (const pid of treeOf(root)) {
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`))
        ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      // It has ended.
    }
  }
  return ns / 1e6;
}

export function cpuOfTree(roots: readonly number[]): number {
  return roots.flatMap(treeOf).reduce((sum, pid) => sum + (stat(pid)?.cpuS ?? 0), 0);
}

/** Memory of the tree as its proportional share, in MB: pages that processes share count once. */
export function memoryOfTree(root: number): number {
  const kilobytes = treeOf(root).map((pid) => {
    try {
      return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
  return kilobytes.reduce((sum, value) => sum + value, 0) / 1000;
}
