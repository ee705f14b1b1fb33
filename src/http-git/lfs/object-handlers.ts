import { busy, copyAndFree, createSemaphore, internal, invalid } from '../../kernel/index.ts';
import { chunksOf, openBody, parseRange } from '../../http/index.ts';
import type { GitHttpDeps } from '../deps.ts';
import { uncached } from '../errors.ts';
import type { GitExchange } from '../git-exchange.ts';
import { sendLfsJson } from './lfs-response.ts';
import { openFor, readLfsJson, requireObject } from './lfs-request.ts';
import type { LfsCaller } from './lfs-request.ts';

/** Time after which a client that transfers nothing loses its slot. */
const stallMs = 60_000;
/** The lowest rate that is tolerated after the first minutes, in bytes per millisecond. */
const slowest = { bytesPerMs: 16, spareMs: 15 * 60_000 };

/** git-lfs moves eight objects at a time; each takes a file descriptor and a few buffers here. */
const transfers = createSemaphore({
  limit: 256,
  limitPerKey: { client: 32 },
  queue: 1_024,
  waitMs: 30_000,
  refusal: busy('lfs_busy', 'Too many objects are being moved. Please try again in a moment.', 5),
});

const clientOf = ({ viewer }: LfsCaller, { state }: GitExchange): string =>
  viewer.kind === 'person' ? viewer.id : state.address;

/** Runs a transfer with a slot and a deadline that depends on its size. */
function transfer(exchange: GitExchange, caller: LfsCaller, bytes: number, work: () => Promise<void>): Promise<void> {
  const { req } = exchange;
  return transfers.run(
    async () => {
      // The disk may take minutes to sync; stalled clients are detected here.
      req.socket.setTimeout(0);
      const deadline = setTimeout(() => req.socket.destroy(), slowest.spareMs + bytes / slowest.bytesPerMs);
      try {
        await work();
      } finally {
        clearTimeout(deadline);
      }
    },
    { client: clientOf(caller, exchange) },
  );
}

/** `PUT objects/{oid}`: with a token of a batch, or with credentials and the size as Content-Length. */
export async function serveUpload(deps: GitHttpDeps, exchange: GitExchange, oid: string): Promise<void> {
  const { req, res, headers } = exchange;
  const opened = await openFor(deps, exchange, 'upload', 'upload');
  requireObject(opened, oid);
  const length = /^\d{1,15}$/.test(req.headers['content-length'] ?? '') ? Number(req.headers['content-length']) : null;
  const bytes = opened.grant?.object?.bytes ?? length;
  if (bytes === null) throw invalid('lfs_length', 'The length of an object is announced by Content-Length.');
  if (length !== null && length !== bytes)
    throw invalid('lfs_object_damaged', `This object has ${bytes} bytes, but ${length} are being sent.`);
  await transfer(exchange, opened, bytes, async () => {
    const body = openBody(req, {
      maxBytes: bytes,
      tooLarge: () => invalid('lfs_object_damaged', `This object has ${bytes} bytes, but more were sent.`),
      stall: { ms: stallMs, error: () => new Error('stalled') },
      broken: (cause) => invalid('request_cut_short', 'The upload ended too early. Nothing was stored.', { cause }),
    });
    await deps.lfs.receive(opened.viewer, opened.context, { oid, bytes, content: chunksOf(body) });
  });
  res.writeHead(200, [...headers, ...Object.entries(uncached).flat(), 'Content-Length', '0']).end();
}

/** `GET objects/{oid}`, with `Range`: an interrupted client can resume its download. */
export async function serveDownload(deps: GitHttpDeps, exchange: GitExchange, oid: string): Promise<void> {
  const { req, res, headers } = exchange;
  const opened = await openFor(deps, exchange, 'download', 'download');
  requireObject(opened, oid);
  const object = await deps.lfs.describe(opened.context, oid);
  const range = req.headers.range === undefined ? null : parseRange(req.headers.range, object.bytes);
  if (range === 'unsatisfiable') {
    res.setHeader('Content-Range', `bytes */${object.bytes}`);
    throw invalid('range_not_satisfiable', `This object has ${object.bytes} bytes.`);
  }
  const bytes = range === null ? object.bytes : range.last - range.first + 1;
  const sent = {
    ...uncached,
    'Content-Type': 'application/octet-stream',
    'Content-Length': String(bytes),
    'Accept-Ranges': 'bytes',
    ETag: `"${oid}"`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    ...(range === null ? {} : { 'Content-Range': `bytes ${range.first}-${range.last}/${object.bytes}` }),
  };
  const head = [...headers, ...Object.entries(sent).flat()];
  const status = range === null ? 200 : 206;
  if (req.method === 'HEAD') {
    res.writeHead(status, head).end();
    return;
  }
  await transfer(exchange, opened, bytes, async () => {
    const { stream } = await deps.lfs.read(object, range ?? undefined);
    req.socket.setTimeout(stallMs);
    res.writeHead(status, head);
    // Log, metrics and admission add nearly ten listeners; copying adds a few.
    res.setMaxListeners(20);
    await copyAndFree(stream, res).catch((cause: unknown) => {
      if (!res.destroyed && !res.writableFinished) throw internal('an object could not be read', { cause });
    });
  });
}

/** `POST objects/{oid}/verify`: whether the uploaded object exists. */
export async function serveVerify(deps: GitHttpDeps, exchange: GitExchange, oid: string): Promise<void> {
  const opened = await openFor(deps, exchange, 'upload', 'upload');
  requireObject(opened, oid);
  const { size } = await readLfsJson(exchange);
  await deps.lfs.verify(opened.context, { oid, bytes: typeof size === 'number' ? size : -1 });
  sendLfsJson(exchange, 200, { oid, size });
}
