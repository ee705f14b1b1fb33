import type { Readable } from 'node:stream';
import { invalid, visitAll } from '../../kernel/index.ts';
import { PacketReader } from '../pkt-line.ts';
import { leastBytesIn, watchForStall } from '../transfer.ts';

/**
 * Size limit of a request in bytes. Requests are read whole because git does not check all of the wanted ids; no
 * client names more objects than this.
 */
const maxBytes = 64 * 1024 * 1024;

/**
 * Reads a complete request from a stream that ends with it. Throws `fetch_stalled`, `bad_fetch` if it breaks off or is
 * too large, and errors of the stream.
 * @param bounds how long the client may transfer almost nothing, in milliseconds
 */
export function readRequest(
  input: Readable,
  { quietMs, signal }: { quietMs: number; signal: AbortSignal },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const finish = (act: () => void) => {
      endWatch();
      input.pause();
      input.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      signal.removeEventListener('abort', onAbort);
      act();
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBytes) finish(() => reject(invalid('bad_fetch', 'The request is too large.')));
    };
    const onEnd = () => finish(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    const onError = (error: Error) => finish(() => reject(error));
    const onClose = () => finish(() => reject(invalid('bad_fetch', 'The request ended too early.')));
    const onAbort = () => finish(() => reject(signal.reason));
    const onStall = () => finish(() => reject(invalid('fetch_stalled', 'The request was not received in time.')));
    const endWatch = watchForStall(
      { stallMs: quietMs, leastBytes: leastBytesIn(quietMs) },
      () => true,
      () => bytes,
      onStall,
    );
    if (signal.aborted) return onAbort();
    if (input.errored) return onError(input.errored);
    if (input.readableEnded) return onEnd();
    if (input.destroyed) return onClose();
    input.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
    signal.addEventListener('abort', onAbort);
    input.resume();
  });
}

/** The ids and filters of a fetch request in any protocol version. */
interface FetchArguments {
  /** Object ids, in lower case. */
  wants: string[];
  /** `filter` lines as specified by git-rev-list(1) `--filter`; usually none or one. */
  filters: string[];
}

/** Parses the wanted ids and filters of a request; empty if it is malformed, which git will report. */
export async function readArguments(request: Buffer): Promise<FetchArguments> {
  const packets = new PacketReader();
  packets.push(request);
  const found: FetchArguments = { wants: [], filters: [] };
  // Version 2 has one section that ends with a flush; in earlier versions the `filter` line also precedes the first
  // flush.
  try {
    await visitAll(firstSection(packets), (data) => {
      // Before version 2 the capabilities follow the first id.
      const id = /^want ([0-9a-f]{40,64})/i.exec(data.toString('latin1', 0, 70))?.[1];
      if (id !== undefined) found.wants.push(id.toLowerCase());
      else if (data.toString('latin1', 0, 7) === 'filter ')
        found.filters.push(data.toString('utf8', 7).replace(/\n$/, ''));
    });
  } catch {
    return { wants: [], filters: [] };
  }
  return found;
}

function* firstSection(packets: PacketReader): Generator<Buffer> {
  for (let packet = packets.next(); packet !== null && packet.kind !== 'flush'; packet = packets.next())
    if (packet.kind === 'data') yield packet.data;
}

/**
 * Whether a request asks for a pack without further negotiation: its response depends only on the request and the
 * repository.
 */
export function isWholeFetch(request: Buffer, protocol: string | null | undefined): boolean {
  const tail = request.toString('latin1', Math.max(0, request.length - 13));
  if (protocol === 'version=2')
    return request.toString('latin1', 4, 17) === 'command=fetch' && /(?:0009done\n|0008done)0000$/.test(tail);
  return /(?:0009done\n|0008done)$/.test(tail);
}
