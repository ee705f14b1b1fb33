import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** Memory of the machine, or of the control group that limits this process, in bytes. */
export interface MachineMemory {
  total: number;
  /** Available memory: free, or used by the page cache. */
  available: number;
}

/**
 * Null if the system does not report it. For nested control groups (cgroup v2), the one with the least remaining memory
 * counts.
 * @param root replaces `/` in tests
 */
export async function readMachineMemory(root = '/'): Promise<MachineMemory | null> {
  const read = (...names: string[]): Promise<string | null> =>
    readFile(path.join(root, ...names), 'utf8').catch(() => null);
  const meminfo = await read('proc/meminfo');
  if (meminfo === null) return null;
  const kibibytes = (name: string): number => 1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(meminfo)?.[1]);
  let found: MachineMemory = { total: kibibytes('MemTotal'), available: kibibytes('MemAvailable') };
  if (Number.isNaN(found.total + found.available)) return null;

  const [, group = '/'] = /^0::(\S+)/m.exec((await read('proc/self/cgroup')) ?? '') ?? [];
  for (let folder = group; ; folder = path.dirname(folder)) {
    const file = (name: string): Promise<string | null> => read('sys/fs/cgroup', folder, name);
    const limit = Number(await file('memory.max'));
    if (limit > 0) {
      const stat = (await file('memory.stat')) ?? '';
      const bytes = (name: string): number => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(stat)?.[1] ?? 0);
      // The page cache of files is reclaimable, but tmpfs is not.
      const held = Number(await file('memory.current')) - bytes('file') + bytes('shmem');
      found = { total: Math.min(found.total, limit), available: Math.min(found.available, Math.max(0, limit - held)) };
    }
    if (folder === path.dirname(folder)) return found;
  }
}
