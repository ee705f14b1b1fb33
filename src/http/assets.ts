import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import mime from 'mime-types';
import type { Embedded } from '../embedded/index.ts';

export type AssetEncoding = 'br' | 'gzip' | 'identity';

interface Asset {
  type: string;
  /** Twelve hex digits of a digest: a changed file has another URL. */
  hash: string;
  /** Compressed on first use, outside the main thread: a page needs the URLs of several at once. */
  body(encoding: AssetEncoding): Promise<Buffer>;
}

/** The stylesheet, the scripts and the icons, under names that change with their content. */
export interface Assets {
  /** The path to link to: `/assets/0123456789ab-style.css`. */
  url(name: string): string;
  /** The file for a path below /assets/; null for unknown names (never reads the disk, security B04). */
  find(fileName: string): { asset: Asset; isCurrent: boolean } | null;
}

/**
 * Comments and whitespace of the stylesheet are for its authors: they are a sixth of its compressed size. Whitespace is
 * removed where CSS needs none; strings stay unchanged.
 */
const slim = (css: string): string =>
  css
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/"[^"]*"|\s*([{};,])\s*/g, (found, sign?: string) => sign ?? found)
    .replace(/"[^"]*"|(:) +/g, (found, sign?: string) => sign ?? found)
    .replace(/"[^"]*"|;(})/g, (found, sign?: string) => sign ?? found)
    .replace(/(?<=[ :,(-])0(?=\.\d)/g, '')
    .trim();

const compress: Record<AssetEncoding, (bytes: Buffer) => Promise<Buffer>> = {
  identity: (bytes) => Promise.resolve(bytes),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
};

function prepare(name: string, source: Buffer): Asset {
  const bytes = name.endsWith('.css') ? Buffer.from(slim(source.toString())) : source;
  const bodies: Partial<Record<AssetEncoding, Promise<Buffer>>> = {};
  return {
    type: mime.contentType(name) || 'application/octet-stream',
    hash: createHash('sha256').update(bytes).digest('hex').slice(0, 12),
    body: (encoding) => (bodies[encoding] ??= compress[encoding](bytes)),
  };
}

/** Generated on first use. */
interface MadeAssets {
  names: readonly string[];
  make(name: string): Buffer;
}

/**
 * Reads assets on first use and caches them. In a checkout the file is read every time, so that an edit shows on
 * reload.
 */
export function createAssets(embedded: Embedded, made: MadeAssets): Assets {
  const names = new Set([...embedded.assetPaths(), ...made.names]);
  const prepared = new Map<string, { source: Buffer; asset: Asset }>();

  const load = (name: string): Asset => {
    const known = prepared.get(name);
    if (known && embedded.isExecutable) return known.asset;
    const source = made.names.includes(name) ? made.make(name) : embedded.asset(name);
    if (known !== undefined && (known.source === source || known.source.equals(source))) return known.asset;
    const asset = prepare(name, source);
    prepared.set(name, { source, asset });
    return asset;
  };

  return {
    url: (name) => `/assets/${load(name).hash}-${name}`,
    find(fileName) {
      const [, hash, name] = /^([0-9a-f]{12})-([a-z0-9.-]+)$/.exec(fileName) ?? [];
      if (!name || !names.has(name)) return null;
      const asset = load(name);
      return { asset, isCurrent: asset.hash === hash };
    },
  };
}
