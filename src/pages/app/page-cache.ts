import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { AssetEncoding } from '../../http/index.ts';
import { isCurrent } from './dependency.ts';
import type { Dependency } from './dependency.ts';

const gzipped = promisify(gzip);
const brotlied = promisify(brotliCompress);

/** A page as it was sent, with what it rests on. */
export interface CachedPage {
  /** Changes with the bytes. */
  readonly etag: string;
  readonly madeAtMs: number;
  /** The bytes in a content coding; made when they are first asked for. */
  body(encoding: AssetEncoding): Promise<Buffer>;
}

/**
 * Rendered pages, in memory. A page is kept under a key that holds everything it was
 * made of (`page-key.ts`), and what it asked besides is asked again when the database
 * has changed. So nobody has to remember to forget it: what changed has another key.
 * Whoever looks one up has decided that the viewer may see it.
 */
export interface PageCache {
  find(key: string, now: Moment): Promise<CachedPage | null>;
  keep(key: string, html: string, restsOn: readonly Dependency[], made: Moment): CachedPage;
  /** For metrics and tests. */
  load(): { pages: number; bytes: number };
}

/** When something is looked at or was made. */
export interface Moment {
  nowMs: number;
  /** The state of the database (`db.state`), taken before anything was read: while it is the same, all answers are. */
  state: number;
}

/** Times are said in words ("2 minutes ago"), which are true for about this long. */
export const cacheTtlMs = 60_000;
/** What all pages may take, with their compressed forms. */
const maxBytes = 64 * 1024 * 1024;
/** Larger ones are not kept at all. */
const maxPageBytes = 4 * 1024 * 1024;
/** What an entry takes besides its bytes. */
const entryBytes = 1_024;

interface Entry extends CachedPage {
  restsOn: readonly Dependency[];
  /** At which state of the database all that it rests on was last so. */
  provenAt: number;
  bytes: number;
}

export function createPageCache({ most = maxBytes }: { most?: number } = {}): PageCache {
  /** Least recently asked for first. */
  const pages = new Map<string, Entry>();
  let total = 0;

  function drop(key: string): void {
    total -= pages.get(key)?.bytes ?? 0;
    pages.delete(key);
  }

  function grow(key: string, entry: Entry, bytes: number): void {
    // It may have been dropped while it was compressed.
    if (pages.get(key) !== entry) return;
    entry.bytes += bytes;
    total += bytes;
    for (const oldest of pages.keys()) {
      if (total <= most) break;
      drop(oldest);
    }
  }

  function entryOf(key: string, html: Buffer, restsOn: Entry['restsOn'], made: Moment): Entry {
    const bodies = new Map<AssetEncoding, Promise<Buffer>>([['identity', Promise.resolve(html)]]);
    const entry: Entry = {
      etag: `W/"${hash('sha256', html, 'base64url').slice(0, 22)}"`,
      madeAtMs: made.nowMs,
      restsOn,
      provenAt: made.state,
      bytes: 0,
      body(encoding) {
        const known = bodies.get(encoding);
        if (known) return known;
        const body = compress(html, encoding as 'gzip' | 'br');
        bodies.set(encoding, body);
        void body.then(
          ({ length }) => grow(key, entry, length),
          () => bodies.delete(encoding),
        );
        return body;
      },
    };
    return entry;
  }

  return {
    async find(key, { nowMs, state }) {
      const entry = pages.get(key);
      if (entry === undefined) return null;
      // A clock that went back makes it stale, too.
      const age = nowMs - entry.madeAtMs;
      let holds = age >= 0 && age < cacheTtlMs;
      if (entry.provenAt !== state) {
        for (const relied of entry.restsOn) holds &&= await isCurrent(relied);
        if (holds) entry.provenAt = state;
      }
      if (pages.get(key) !== entry) return holds ? entry : null;
      pages.delete(key);
      if (holds) pages.set(key, entry);
      else total -= entry.bytes;
      return holds ? entry : null;
    },
    keep(key, html, restsOn, made) {
      const bytes = Buffer.from(html);
      const entry = entryOf(key, bytes, restsOn, made);
      if (bytes.length > maxPageBytes) return entry;
      drop(key);
      pages.set(key, entry);
      grow(key, entry, bytes.length + key.length + entryBytes);
      return entry;
    },
    load: () => ({ pages: pages.size, bytes: total }),
  };
}

/** A page is compressed once and sent often, so more effort than for one that is not kept. */
function compress(html: Buffer, encoding: 'gzip' | 'br'): Promise<Buffer> {
  if (encoding === 'gzip') return gzipped(html, { level: 6 });
  return brotlied(html, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: html.length },
  });
}
