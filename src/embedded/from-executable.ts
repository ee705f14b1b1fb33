import { getAssetKeys, getRawAsset } from 'node:sea';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { unknownName, type Embedded } from './embedded.ts';
import { limitsOfThread } from './thread-limits.ts';

/** The functions that the executable's loader and its build provide to this file. */
declare const hearthChunks: {
  /** Runs a chunk of the bundle once and returns its exports. */
  load(name: string): Record<string, unknown>;
  /** Starts a worker thread on a chunk of the bundle. */
  startWorker(chunk: string, options: object): import('node:worker_threads').Worker;
};
declare const HEARTH_VERSION: string;

const assetPrefix = 'assets/';
/** Assets of packages (`packaged-assets.ts`), compressed to a fifth of their size: few pages need them. */
const packedAssetPrefix = 'packed-assets/';
/** Compressed to a third of their size: not read at startup. */
const documentPrefix = 'docs/';
const documentEnding = '.md.gz';
type Render = (locals: Record<string, unknown>) => string;

function chunkOf(kind: 'worker' | 'task', name: string): string {
  const chunk = `${kind}-${name}`;
  const keys = getAssetKeys();
  if (!keys.includes(`chunks/${chunk}`) && !keys.includes(`packed/${chunk}`)) throw unknownName(kind, name);
  return chunk;
}

/** Reads everything from the executable's own image. */
export const embedded: Embedded = {
  version: HEARTH_VERSION,
  isExecutable: true,
  startWorker: (name, options = {}) =>
    hearthChunks.startWorker(chunkOf('worker', name), {
      name,
      ...options,
      resourceLimits: limitsOfThread(name, options.resourceLimits),
    }),
  loadTask: async (name) => hearthChunks.load(chunkOf('task', name)),
  library: (name) => hearthChunks.load(`library-${name}`),
  // loader.cjs reads this argument.
  programOf: (name) => ({ program: process.execPath, args: [`--run-part=${chunkOf('worker', name)}`] }),
  asset(path) {
    const keys = getAssetKeys();
    if (keys.includes(assetPrefix + path)) return Buffer.from(getRawAsset(assetPrefix + path));
    if (!keys.includes(packedAssetPrefix + path)) throw unknownName('asset', path);
    return brotliDecompressSync(Buffer.from(getRawAsset(packedAssetPrefix + path)));
  },
  translation(language) {
    const key = `translations/${language}.json`;
    if (!getAssetKeys().includes(key)) throw unknownName('translation', language);
    return Buffer.from(getRawAsset(key)).toString();
  },
  document(name) {
    const key = `${documentPrefix}${name}${documentEnding}`;
    if (!getAssetKeys().includes(key)) throw unknownName('document', name);
    return gunzipSync(Buffer.from(getRawAsset(key))).toString();
  },
  documentNames: () =>
    getAssetKeys()
      .filter((key) => key.startsWith(documentPrefix))
      .map((key) => key.slice(documentPrefix.length, -documentEnding.length))
      .sort(),
  assetPaths: () =>
    [assetPrefix, packedAssetPrefix]
      .flatMap((prefix) => getAssetKeys().flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : [])))
      .sort(),
  renderTemplate(name, locals = {}) {
    const templates = hearthChunks.load('templates') as Record<string, Render>;
    const render = Object.hasOwn(templates, name) ? templates[name] : undefined;
    if (!render) throw unknownName('template', name);
    return render(locals);
  },
};
