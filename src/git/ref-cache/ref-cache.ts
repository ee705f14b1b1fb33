import { cachedBytesLimit, createLru } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import type { ObjectReaders } from '../objects/object-readers.ts';
import { readPackedRefs, Unsupported } from './ref-files.ts';
import type { RefEntry } from './ref-files.ts';
import { readRefSnapshot } from './ref-snapshot.ts';
import type { Peel, RefSnapshot } from './ref-snapshot.ts';
import type { Fingerprint } from './fingerprint.ts';

/** The refs of busy repositories, cached in memory and validated against the disk. */
export interface RefCache {
  /**
   * The current refs: includes all changes by this process, and changes by others up to two milliseconds ago; null if
   * git has to list them. The caller checks access.
   */
  of(repository: string): Promise<RefSnapshot | null>;
  /** Records that these objects, pushed to branches, are commits, so they need no lookup. */
  recordCommits(repository: string, oids: Iterable<string>): void;
  /** Runs work that may move refs: during it and right afterwards, every lookup validates against the disk. */
  changing<Result>(repository: string, work: () => Promise<Result>): Promise<Result>;
  /** Drops a repository that is removed or moved. */
  forget(repository: string): void;
}

interface CachedSnapshot {
  snapshot: RefSnapshot;
  readAtMs: number;
  /** Whether any later change is sure to be detected. Otherwise only the next two fields are usable. */
  isSettled: boolean;
  /** Time of the last validation against the disk, by `performance.now()`. */
  validatedAtMs: number;
  packed: RefEntry[];
  /** Peeled ids by object; null for an object that is not an annotated tag. */
  known: Map<string, string | null>;
}

/**
 * Limit in bytes, and estimated bytes per ref: 150 in the snapshot, 40 in the list for menus, 65 in every response that
 * contains it, of which there are rarely more than two.
 */
const maxCachedBytes = 64 * 1024 * 1024;
const refBytes = 320;
/** Bytes of a repository besides its refs. */
const snapshotBytes = 4_096;
const maxCachedRepositories = 2_000;
/** Batch size of object reader requests. */
const batchSize = 5_000;
/** Peeled ids are dropped when their number exceeds this multiple of the refs: most belong to former tips. */
const knownPerRef = 2;
const leastKnown = 1_000;
/**
 * Time that a validation is trusted, in milliseconds: it makes ten stat calls, a quarter of the cost of a listing at
 * thousands per second.
 */
const validForMs = 2;

export function createRefCache(readers: ObjectReaders, logger: Logger): RefCache {
  const cache = createLru<string, CachedSnapshot>({
    name: 'ref snapshots',
    maxWeight: maxCachedBytes,
    unit: 'bytes',
    maxEntries: maxCachedRepositories,
    // The busiest repository is cached whatever its size: reading its refs for each request would take as much memory.
    weigh: ({ snapshot }) =>
      Math.min(snapshotBytes + snapshot.refs.length * refBytes, maxCachedBytes, cachedBytesLimit() / 2),
  });
  /** Repositories that this process is changing, with the number of concurrent changes. */
  const changesInProgress = new Map<string, number>();

  const peelIn =
    (repository: string): Peel =>
    async (oids) => {
      const results: (string | null)[] = [];
      for (let start = 0; start < oids.length; start += batchSize) {
        const names = oids.slice(start, start + batchSize).map((oid) => `${oid}^{}`);
        const infos = await readers.use(repository, (reader) => reader.infos(names));
        results.push(...infos.map((info) => info?.oid ?? null));
      }
      return results;
    };

  async function read(repository: string, before: CachedSnapshot | undefined): Promise<RefSnapshot> {
    const readAtMs = Date.now();
    let packed: RefEntry[] = [];
    const readPacked = async (now: Fingerprint) => {
      const isKnown = before?.snapshot.fingerprint.agreesOnPackedRefs(now, before.readAtMs) ?? false;
      packed = isKnown ? before!.packed : await readPackedRefs(repository);
      return packed;
    };
    const isUseful =
      before !== undefined && before.known.size <= before.snapshot.refs.length * knownPerRef + leastKnown;
    const known = isUseful ? before.known : new Map<string, string | null>();
    const snapshot = await readRefSnapshot(repository, readPacked, known, peelIn(repository));
    cache.set(repository, {
      snapshot,
      readAtMs,
      isSettled: snapshot.fingerprint.isSettled(readAtMs),
      validatedAtMs: -Infinity,
      packed,
      known,
    });
    return snapshot;
  }

  function isValid(repository: string, known: CachedSnapshot): boolean {
    const now = performance.now();
    if (now - known.validatedAtMs < validForMs && !changesInProgress.has(repository)) return true;
    known.validatedAtMs = now;
    return known.snapshot.fingerprint.isCurrent();
  }

  return {
    async of(repository) {
      const known = cache.get(repository);
      if (known?.isSettled === true && isValid(repository, known)) return known.snapshot;
      try {
        return await read(repository, known);
      } catch (error) {
        // git handles these repositories, including broken ones.
        cache.delete(repository);
        if (!(error instanceof Unsupported)) logger.debug('git.refs_unread', { repository, error });
        return null;
      }
    },
    recordCommits(repository, oids) {
      for (const oid of oids) cache.peek(repository)?.known.set(oid, null);
    },
    async changing(repository, work) {
      changesInProgress.set(repository, (changesInProgress.get(repository) ?? 0) + 1);
      try {
        return await work();
      } finally {
        const others = changesInProgress.get(repository)! - 1;
        if (others === 0) changesInProgress.delete(repository);
        else changesInProgress.set(repository, others);
        const known = cache.peek(repository);
        if (known !== undefined) known.validatedAtMs = -Infinity;
      }
    },
    forget: (repository) => cache.delete(repository),
  };
}
