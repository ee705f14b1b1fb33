/**
 * What goes over the control socket, both ways: a kind in one byte, a length in four, the bytes.
 * One connection is one conversation: a request, then input on one side, output and complaints on
 * the other, and the end with its exit code.
 */
export const kinds = { request: 1, input: 2, inputEnd: 3, output: 4, complaint: 5, end: 6 } as const;

export type Kind = (typeof kinds)[keyof typeof kinds];

export interface Frame {
  kind: number;
  payload: Buffer;
}

/** Both sides are ours: more in one piece is a fault. */
const maxPayloadBytes = 1024 * 1024;
const headBytes = 5;

export function frame(kind: Kind, payload: Buffer | string = ''): Buffer {
  const body = Buffer.from(payload as string);
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** A list of many refs comes in one piece of many megabytes; nobody should have to hold a frame of that size. */
const pieceBytes = 256 * 1024;

/** Frames of one kind for bytes of any number. */
export function* framesOf(kind: Kind, bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield frame(kind, bytes.subarray(at, at + pieceBytes));
}

/** Cuts a stream into frames. Throws on a frame that is too large. */
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
