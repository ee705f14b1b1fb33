/**
 * The frames of the control socket, in both directions: kind in one byte, length in four, payload. One connection is
 * one session: a request, then input from the client, output and stderr from the server, and the end with its exit
 * code.
 */
export const kinds = { request: 1, input: 2, inputEnd: 3, output: 4, stderr: 5, end: 6 } as const;

type Kind = (typeof kinds)[keyof typeof kinds];

interface Frame {
  kind: number;
  payload: Buffer;
}

/** Both sides are Hearth's own: a larger frame is a fault. */
const maxPayloadBytes = 1024 * 1024;
const headBytes = 5;

export function frame(kind: Kind, payload: Buffer | string = ''): Buffer {
  const body = Buffer.from(payload as string);
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/**
 * A list of many refs is one write of many megabytes; it is split, so that neither side buffers a frame of that size.
 */
const chunkBytes = 256 * 1024;

/** The frames of one kind for a buffer of any size. */
export function* framesOf(kind: Kind, bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield frame(kind, bytes.subarray(at, at + chunkBytes));
}

/** Splits a stream into frames. Throws on a frame that is too large. */
export function createFrameReader(): (chunk: Buffer) => Frame[] {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const frames: Frame[] = [];
    while (rest.length >= headBytes) {
      const length = rest.readUInt32BE(1);
      if (length > maxPayloadBytes) throw new Error('a frame of the control socket is too large');
      if (rest.length < headBytes + length) break;
      frames.push({ kind: rest.readUInt8(0), payload: rest.subarray(headBytes, headBytes + length) });
      rest = rest.subarray(headBytes + length);
    }
    return frames;
  };
}
