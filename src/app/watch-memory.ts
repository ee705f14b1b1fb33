import { getHeapStatistics } from 'node:v8';
import { deleteExpiredEntries, limitCachedBytes } from '../kernel/index.ts';
import type { Logger } from '../kernel/index.ts';
import { readMachineMemory } from './machine-memory.ts';
import type { MachineMemory } from './machine-memory.ts';

const mebibyte = 1024 * 1024;
const intervalMs = 5_000;
/** Part of the machine's memory that the caches get without a setting, and its bounds. */
const [cachePart, leastCached, mostCached] = [1 / 64, 8 * mebibyte, 24 * mebibyte];
/** Memory is short if less than this part of it is free, or the heap is filled to this part. */
const [leastAvailable, fullHeap] = [0.08, 0.85];

/** The limit of all caches in bytes on a machine with this memory. @param setting `memory.caches` */
export function cachesFor(memory: Pick<MachineMemory, 'total'> | null, setting: number | null): number {
  if (setting !== null) return setting;
  if (memory === null) return mostCached;
  return Math.min(mostCached, Math.max(leastCached, Math.floor(memory.total * cachePart)));
}

/** Usage of the main thread's heap and of the machine's memory; parts of 1. */
interface MemoryLoad {
  heapUsed: number;
  /** 1 if the system does not report it. */
  available: number;
}

/**
 * The limit of all caches for the next interval: a quarter of the full limit while memory is short, then increasing
 * step by step to the full limit.
 */
export function nextCacheLimit(normal: number, before: number, { heapUsed, available }: MemoryLoad): number {
  if (heapUsed > fullHeap || available < leastAvailable) return Math.floor(normal / 4);
  return Math.min(normal, before * 2);
}

export interface MemoryWatch {
  stop(): void;
}

/** Limits the caches of this process, and checks every few seconds whether they must shrink. */
export function watchMemory(
  { setting, logger }: { setting: number | null; logger: Logger },
  read: () => Promise<MachineMemory | null> = readMachineMemory,
): MemoryWatch {
  let limit: number | null = null;

  async function look(): Promise<void> {
    const memory = await read();
    const normal = cachesFor(memory, setting);
    const { used_heap_size: used, heap_size_limit: most } = getHeapStatistics();
    const available = memory === null ? 1 : memory.available / memory.total;
    const next = nextCacheLimit(normal, limit ?? normal, { heapUsed: used / most, available });
    if (next < normal && (limit === null || limit >= normal))
      logger.info('memory.short', { availableMiB: Math.round((memory?.available ?? 0) / mebibyte), heapBytes: used });
    limit = next;
    limitCachedBytes(next);
    deleteExpiredEntries();
  }

  void look();
  const timer = setInterval(() => void look(), intervalMs).unref();
  return { stop: () => clearInterval(timer) };
}
