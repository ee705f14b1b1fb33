import { createLru } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import type { ObjectReaders } from '../objects/object-readers.ts';
import { readPackedRefs, Unsupported } from './ref-files.ts';
import type { RefEntry } from './ref-files.ts';
import { readRefSnapshot } from './ref-snapshot.ts';
import type { Peel, RefSnapshot } from './ref-snapshot.ts';
import type { Fingerprint } from './fingerprint.ts';

/** The refs of busy repositories, kept in memory and checked against the disk. */
export interface RefCache {
  /**
   * The refs as they are now: with all that this process has done, and with what others
   * did up to two milliseconds ago; null when git has to answer.
   * Whoever asks has checked access.
   */
  of(repository: string): Promise<RefSnapshot | null>;
  /** Tells that these objects, which a push brought to branches, are commits: nobody has to look. */
  noteCommits(repository: string, oids: Iterable<string>): void;
  /** Does work that may move refs: meanwhile, and right after, no check of the disk is left out. */
  changing<Result>(repository: string, work: () => Promise<Result>): Promise<Result>;
  /** Forgets a repository that goes away or moves. */
  forget(repository: string): void;
}

interface CachedSnapshot {
  table: RefSnapshot;
  readAtMs: number;
  /** Whether any change since is sure to show. Otherwise only the two below are of use. */
  isSettled: boolean;
  /** When the disk was last seen to agree, by `performance.now()`. */
  agreedAtMs: number;
  packed: RefEntry[];
  /** By object, what was found out: null for what is no annotated tag. */
  known: Map<string, string | null>;
}

/** Refs that may be kept in all, as many as one repository may have; each takes some 200 bytes, and 60 in every answer that holds it. */
const keptRefs = 250_000;
const keptRepositories = 2_000;
/** Questions for the object reader at a time. */
const questionsAtOnce = 5_000;
/** What was found out about objects is forgotten when it is so many times more than there are refs: most of it is of former tips. */
const knownPerRef = 2;
const leastKnown = 1_000;
/** A check asks the kernel ten questions, which is a quarter of all that a listing costs when thousands come each second. */
const agreesForMs = 2;

export function createRefCache(readers: ObjectReaders, logger: Logger): RefCache {
  const kept = createLru<string, CachedSnapshot>({
    name: 'ref snapshots',
    maxWeight: keptRefs,
    maxEntries: keptRepositories,
    // One repository with more refs than that fills the cache alone.
    weigh: ({ table }) => Math.min(table.refs.length, keptRefs),
  });
  /** Repositories that this process is changing, and how often at once. */
  const underWork = new Map<string, number>();

  const peelIn =
    (repository: string): Peel =>
    async (oids) => {
      const answers: (string | null)[] = [];
      for (let start = 0; start < oids.length; start += questionsAtOnce) {
        const names = oids.slice(start, start + questionsAtOnce).map((oid) => `${oid}^{}`);
        const infos = await readers.use(repository, (reader) => reader.infos(names));
        answers.push(...infos.map((info) => info?.oid ?? null));
      }
      return answers;
    };

  async function read(repository: string, before: CachedSnapshot | undefined): Promise<RefSnapshot> {
    const readAtMs = Date.now();
    let packed: RefEntry[] = [];
    const readPacked = async (now: Fingerprint) => {
      const isKnown = before?.table.stamp.agreesOnPackedRefs(now, before.readAtMs) ?? false;
      packed = isKnown ? before!.packed : await readPackedRefs(repository);
      return packed;
    };
    const isUseful = before !== undefined && before.known.size <= before.table.refs.length * knownPerRef + leastKnown;
    const known = isUseful ? before.known : new Map<string, string | null>();
    const table = await readRefSnapshot(repository, readPacked, known, peelIn(repository));
    kept.set(repository, {
      table,
      readAtMs,
      isSettled: table.stamp.isSettled(readAtMs),
      agreedAtMs: -Infinity,
      packed,
      known,
    });
    return table;
  }

  function agrees(repository: string, known: CachedSnapshot): boolean {
    const now = performance.now();
    if (now - known.agreedAtMs < agreesForMs && !underWork.has(repository)) return true;
    known.agreedAtMs = now;
    return known.table.stamp.isCurrent();
  }

  return {
    async of(repository) {
      const known = kept.get(repository);
      if (known?.isSettled === true && agrees(repository, known)) return known.table;
      try {
        return await read(repository, known);
      } catch (error) {
        // git has the last word, also about what is broken.
        kept.delete(repository);
        if (!(error instanceof Unsupported)) logger.debug('git.refs_unread', { repository, error });
        return null;
      }
    },
    noteCommits(repository, oids) {
      for (const oid of oids) kept.peek(repository)?.known.set(oid, null);
    },
    async changing(repository, work) {
      underWork.set(repository, (underWork.get(repository) ?? 0) + 1);
      try {
        return await work();
      } finally {
        const others = underWork.get(repository)! - 1;
        if (others === 0) underWork.delete(repository);
        else underWork.set(repository, others);
        const known = kept.peek(repository);
        if (known !== undefined) known.agreedAtMs = -Infinity;
      }
    },
    forget: (repository) => kept.delete(repository),
  };
}
