import type { Viewer } from '../access/index.ts';
import { attachmentDisposition, chunksOf, discardBody, openBody, parseRange, readBytes } from '../http/index.ts';
import type { Context } from '../http/index.ts';
import { busy, copyAndFree, createSemaphore, invalid } from '../kernel/index.ts';
import type { PackageHttpDeps } from './deps.ts';
import { locationForProxy } from './send-by-proxy.ts';

/** Time in milliseconds without any transferred data after which a client loses its slot. */
const stallMs = 60_000;
/** Minimum transfer rate, in bytes per millisecond, after the first minutes. */
const slowest = { bytesPerMs: 16, spareMs: 30 * 60_000 };

/** Clients push several layers in parallel; each takes a file descriptor and a few buffers here. */
const uploads = createSemaphore({
  limit: 128,
  limitPerKey: { client: 32 },
  queue: 512,
  waitMs: 30_000,
  refusal: busy('packages_busy', 'Too many files are being uploaded. Please try again in a moment.', 5),
});

/** Runs an upload with a slot, a deadline based on its size, and a body that must not stall. */
export function receiveUpload<Result>(
  ctx: Context,
  viewer: Viewer,
  work: (content: AsyncIterable<Buffer>) => Promise<Result>,
): Promise<Result> {
  const { req } = ctx;
  const bytes = lengthOf(ctx) ?? 16 * 1024 ** 3;
  return uploads.run(
    async () => {
      // Syncing the disk may take minutes; a stalled client is detected here.
      req.socket.setTimeout(0);
      const deadline = setTimeout(() => req.socket.destroy(), slowest.spareMs + bytes / slowest.bytesPerMs);
      try {
        const body = openBody(req, {
          maxBytes: Infinity,
          tooLarge: () => invalid('package_body_too_large', 'This request is too large.'),
          stall: { ms: stallMs, error: () => new Error('stalled') },
          broken: (cause) => invalid('request_cut_short', 'The upload ended too early. Nothing was stored.', { cause }),
        });
        return await work(chunksOf(body));
      } finally {
        clearTimeout(deadline);
        req.socket.setTimeout(stallMs);
      }
    },
    { client: viewer.kind === 'person' ? viewer.id : ctx.state.address },
  );
}

/** The announced length of the body; null if it is not announced. */
export function lengthOf(ctx: Context): number | null {
  const length = ctx.req.headers['content-length'] ?? '';
  return /^\d{1,15}$/.test(length) ? Number(length) : null;
}

/** A small body as a whole. Throws `package_body_too_large`. */
export const readSmallBody = (ctx: Context, maxBytes: number, deadlineMs?: number): Promise<Buffer> =>
  readBytes(ctx.req, {
    maxBytes,
    tooLarge: () => invalid('package_body_too_large', `This request may have at most ${maxBytes} bytes.`),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });

/** Discards a body that is not used. */
export const discardContent = (ctx: Context): void => discardBody(ctx.req);

/**
 * A JSON body as a whole, optionally compressed with gzip. Throws `package_body_too_large`, `package_metadata`.
 * @param kind whether it must be an object
 */
export async function readJsonBody(ctx: Context, maxBytes: number): Promise<Record<string, unknown>>;
export async function readJsonBody(ctx: Context, maxBytes: number, kind: 'any'): Promise<unknown>;
export async function readJsonBody(
  ctx: Context,
  maxBytes: number,
  kind: 'object' | 'any' = 'object',
): Promise<unknown> {
  const bytes = await readBytes(ctx.req, {
    maxBytes,
    tooLarge: () => invalid('package_body_too_large', `This request may have at most ${maxBytes} bytes.`),
    gzip: {
      names: ['gzip', 'x-gzip'],
      unsupported: () => invalid('package_metadata', 'A request can only be compressed with gzip.'),
    },
    deadlineMs: 600_000,
  });
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (kind === 'any' || (value !== null && typeof value === 'object' && !Array.isArray(value))) return value;
  } catch {
    // Refused below.
  }
  throw invalid('package_metadata', 'This request is no JSON object.');
}

/** Smaller files are sent faster from here than by the proxy. */
const smallestForProxy = 64 * 1024;

/** Stored content to send. */
interface SentContent {
  ownerId: string;
  sha256: string;
  bytes: number;
  type: string;
  etag: string;
  headers?: Readonly<Record<string, string>>;
  /** File name offered for saving. */
  fileName?: string;
}

/**
 * Sends stored content, or the range that the client requests; only the headers for HEAD, and 304 if the client has it
 * cached. Uploaded content is never shown as a page of this server.
 */
export async function sendContent(
  { packages, config }: Pick<PackageHttpDeps, 'packages' | 'config'>,
  ctx: Context,
  { ownerId, sha256, bytes, type, etag, headers = {}, fileName }: SentContent,
): Promise<void> {
  ctx.set({
    ...headers,
    'Content-Type': type,
    ETag: etag,
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, no-cache',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
    ...(fileName === undefined ? {} : { 'Content-Disposition': attachmentDisposition(fileName) }),
  });
  if (isKnown(ctx, etag)) return;
  const location = bytes < smallestForProxy ? null : locationForProxy(config, ctx);
  if (location !== null) {
    // The proxy reads the range of the request by itself.
    ctx.status = 200;
    ctx.body = '';
    ctx.set({ 'Content-Type': type, 'X-Accel-Redirect': location + (await packages.blobs.keyOf({ ownerId, sha256 })) });
    return;
  }
  const header = ctx.get('Range');
  const isForThis = ctx.get('If-Range') === '' || ctx.get('If-Range') === etag;
  const range = header !== '' && isForThis ? parseRange(header, bytes) : null;
  if (range === 'unsatisfiable') {
    ctx.set('Content-Range', `bytes */${bytes}`);
    ctx.status = 416;
    ctx.body = '';
    return;
  }
  ctx.status = range === null ? 200 : 206;
  if (range !== null) ctx.set('Content-Range', `bytes ${range.first}-${range.last}/${bytes}`);
  const sent = range === null ? bytes : range.last - range.first + 1;
  if (ctx.method === 'HEAD') {
    // Koa keeps the length of a body that is not sent; a response without a body would lose its type.
    ctx.body = Buffer.alloc(0);
    ctx.set({ 'Content-Type': type, 'Content-Length': String(sent) });
    return;
  }
  // Log, metrics and admission add nearly ten listeners; copying adds a few.
  ctx.res.setMaxListeners(20);
  const content = await packages.blobs.open({ ownerId, sha256 }, range ?? undefined);
  ctx.set({ 'Content-Type': type, 'Content-Length': String(sent) });
  ctx.respond = false;
  // Middleware that ran before may add headers when this returns.
  setImmediate(() => void copyAndFree(content, ctx.res).catch((error: Error) => ctx.onerror(error)));
}

/** Sends 304 if the client already has this content. */
export function isKnown(ctx: Context, etag: string): boolean {
  const known = ctx.get('If-None-Match');
  if (known === '' || !known.split(',').some((one) => one.trim().replace(/^W\//, '') === etag)) return false;
  ctx.status = 304;
  return true;
}

/** Sends JSON, from a value or a serialized text. */
export function sendJson(ctx: Context, value: unknown, { type = 'application/json', status = 200 } = {}): void {
  ctx.status = status;
  ctx.body = typeof value === 'string' ? value : JSON.stringify(value);
  ctx.set('Content-Type', type);
}
