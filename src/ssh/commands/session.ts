import type { Readable, Writable } from 'node:stream';
import type { PersonViewer } from '../../access/index.ts';

/** One session, from wherever it came: the streams to a client and what the connection tells. */
export interface Session {
  address: string;
  /** The port they reached. */
  port: number;
  /** Value of `GIT_PROTOCOL`; null when it was not sent. */
  protocol: string | null;
  input: Readable;
  output: Writable;
  /** Writes to their stderr. */
  complain(line: string): void;
  /** How much the streams have moved by now. */
  moved(): { receivedBytes: number; sentBytes: number };
  /** Aborts when they are gone. */
  signal: AbortSignal;
}

/** Who asks, and the streams to them; the protocol is one that git knows. */
export interface Client extends Session {
  /** The public key, in wire form, that signed this connection in. */
  blob: Buffer;
}

/** A client, and who they are at this moment. */
export interface AuthenticatedSession extends Client {
  viewer: PersonViewer;
}
