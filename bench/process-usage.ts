// Resource usage of a server's whole process tree, as Linux reports it.
import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;

interface Stat {
  parent: number;
  /** Own CPU time and that of reaped children, in seconds. */
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

/** The process and its descendants. */
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
 * The CPU time in milliseconds of all threads that are alive, with nanosecond resolution; threads that ended are
 * missing. For single responses, which are too short for hundredths of a second.
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

/** Proportional set size of the tree in MB: shared pages count once. */
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
