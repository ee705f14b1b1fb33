import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, gunzip, gzip } from 'node:zlib';
import type { AssetEncoding } from '../../http/index.ts';
import { createLru } from '../../kernel/index.ts';
import { isCurrent } from './dependency.ts';
import { hasDiagrams } from './diagrams.ts';
import type { Dependency } from './dependency.ts';

const gzipped = promisify(gzip);
const brotlied = promisify(brotliCompress);
const ungzipped = promisify(gunzip);
const unbrotlied = promisify(brotliDecompress);

type ContentCoding = Exclude<AssetEncoding, 'identity'>;

/** A rendered page, with what it depends on. */
export interface CachedPage {
  /** Changes with the bytes. */
  readonly etag: string;
  readonly madeAtMs: number;
  /** Whether it needs the policy of pages with frames. */
  readonly hasDiagrams: boolean;
  /** The bytes in a content coding; made when they are first asked for, from those in another one when need be. */
  body(encoding: AssetEncoding): Promise<Buffer>;
}

/**
 * Rendered pages, in memory. A page is stored under a key that holds everything it was made of
 * (`cache-key.ts`), and its dependencies are asked again when the database has changed. So nothing
 * has to be invalidated: what changed has another key. The caller decides that the viewer may see it.
 */
export interface RenderedPages {
  find(key: string, now: ReadSnapshot): Promise<CachedPage | null>;
  keep(key: string, html: string, dependencies: readonly Dependency[], made: ReadSnapshot): CachedPage;
  /** For metrics and tests. */
  load(): { pages: number; bytes: number };
}

/** When something is looked at or was made. */
interface ReadSnapshot {
  nowMs: number;
  /** The state of the database (`db.state`), taken before anything was read: while it is the same, all reads are. */
  state: number;
}

/** Times are relative ("2 minutes ago"), which is true for about this long. */
export const cacheTtlMs = 60_000;
/** The bytes of all pages, in each form that is held. */
const maxBytes = 64 * 1024 * 1024;
/** Larger ones are not stored at all. */
const maxPageBytes = 4 * 1024 * 1024;
/** What an entry takes besides its bytes. */
const entryBytes = 1_024;

interface Entry extends CachedPage {
  dependencies: readonly Dependency[];
  /** The state of the database at which all dependencies were last current. */
  currentAt: number;
  bytes: number;
}

export function createRenderedPages({ maxWeight = maxBytes }: { maxWeight?: number } = {}): RenderedPages {
  const pages = createLru<string, Entry>({
    name: 'rendered pages',
    maxWeight,
    unit: 'bytes',
    weigh: ({ bytes }) => bytes,
    // Stale pages are dropped, so that a quiet server does not hold them.
    ttlMs: cacheTtlMs,
  });

  function entryOf(key: string, html: Buffer, dependencies: Entry['dependencies'], made: ReadSnapshot): Entry {
    // Browsers ask for a compressed page, which has a tenth of the bytes: once it is there, they are all that is held.
    let plain: Buffer | null = html;
    const compressed = new Map<ContentCoding, Promise<Buffer>>();

    async function plainBytes(): Promise<Buffer> {
      if (plain !== null) return plain;
      const [[encoding, body]] = [...compressed] as [[ContentCoding, Promise<Buffer>]];
      return encoding === 'gzip' ? ungzipped(await body) : unbrotlied(await body);
    }

    const entry: Entry = {
      etag: `W/"${hash('sha256', html, 'base64url').slice(0, 22)}"`,
      madeAtMs: made.nowMs,
      hasDiagrams: hasDiagrams(html),
      dependencies,
      currentAt: made.state,
      bytes: html.length + key.length + entryBytes,
      body(encoding) {
        if (encoding === 'identity') return plainBytes();
        const known = compressed.get(encoding);
        if (known) return known;
        const body = plainBytes().then((bytes) => compress(bytes, encoding));
        compressed.set(encoding, body);
        void body.then(
          ({ length }) => {
            entry.bytes += length - (plain?.length ?? 0);
            plain = null;
            // It may have been evicted while it was compressed.
            if (pages.peek(key) === entry) pages.set(key, entry);
          },
          () => compressed.delete(encoding),
        );
        return body;
      },
    };
    return entry;
  }

  async function isValid(entry: Entry, { nowMs, state }: ReadSnapshot): Promise<boolean> {
    // A clock that went back makes it stale, too.
    const age = nowMs - entry.madeAtMs;
    if (age < 0 || age >= cacheTtlMs) return false;
    if (entry.currentAt === state) return true;
    for (const dependency of entry.dependencies) if (!(await isCurrent(dependency))) return false;
    entry.currentAt = state;
    return true;
  }

  return {
    async find(key, now) {
      const entry = pages.get(key);
      if (entry === undefined) return null;
      if (await isValid(entry, now)) return entry;
      if (pages.peek(key) === entry) pages.delete(key);
      return null;
    },
    keep(key, html, dependencies, made) {
      const bytes = Buffer.from(html);
      const entry = entryOf(key, bytes, dependencies, made);
      if (bytes.length <= maxPageBytes) pages.set(key, entry);
      return entry;
    },
    load: () => ({ pages: pages.size, bytes: pages.weight }),
  };
}

/** A page is compressed once and sent often, so more effort than for one that is not cached. */
function compress(html: Buffer, encoding: ContentCoding): Promise<Buffer> {
  if (encoding === 'gzip') return gzipped(html, { level: 6 });
  return brotlied(html, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: html.length },
  });
}
