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

/** A rendered page with its dependencies. */
export interface CachedPage {
  /** Changes with the bytes. */
  readonly etag: string;
  readonly madeAtMs: number;
  /** Whether it needs the content security policy of pages with frames. */
  readonly hasDiagrams: boolean;
  /** The bytes in a content coding; created at the first call, if necessary from another coding. */
  body(encoding: AssetEncoding): Promise<Buffer>;
}

/**
 * In-memory cache of rendered pages. The key holds every input of a page (`cache-key.ts`), and its dependencies are
 * checked when the database has changed. So nothing has to be invalidated: changed inputs give another key. The caller
 * checks the viewer's access.
 */
export interface RenderedPages {
  find(key: string, now: ReadSnapshot): Promise<CachedPage | null>;
  keep(key: string, html: string, dependencies: readonly Dependency[], made: ReadSnapshot): CachedPage;
  /** For metrics and tests. */
  load(): { pages: number; bytes: number };
}

/** Time and database state of a lookup or of a new page. */
interface ReadSnapshot {
  nowMs: number;
  /** The state of the database (`db.state`), taken before the first read: while it is unchanged, so are all reads. */
  state: number;
}

/** Relative times ("2 minutes ago") stay correct for about this long. */
export const cacheTtlMs = 60_000;
/** The bytes of all pages, in all stored encodings. */
const maxBytes = 64 * 1024 * 1024;
/** Larger pages are not stored. */
const maxPageBytes = 4 * 1024 * 1024;
/** Overhead of an entry besides its bytes. */
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
    // Stale pages are dropped, so that an idle server does not hold them.
    ttlMs: cacheTtlMs,
  });

  function entryOf(key: string, html: Buffer, dependencies: Entry['dependencies'], made: ReadSnapshot): Entry {
    // Browsers request a compressed page, which has a tenth of the bytes; after compression only that is held.
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
            // The page may have been evicted during compression.
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
    // Pages also become stale when the clock was set back.
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

/** A cached page is compressed once and sent often, so it gets more effort than others. */
function compress(html: Buffer, encoding: ContentCoding): Promise<Buffer> {
  if (encoding === 'gzip') return gzipped(html, { level: 6 });
  return brotlied(html, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: html.length },
  });
}
