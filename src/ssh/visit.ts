import type { Readable, Writable } from 'node:stream';
import type { PersonViewer } from '../access/index.ts';

/** Who asks, and the streams to them. */
export interface Client {
  /** The public key, in wire form, that signed this connection in. */
  blob: Buffer;
  address: string;
  /** The port they reached. */
  port: number;
  /** Value of `GIT_PROTOCOL`, already checked. */
  protocol: string | null;
  input: Readable;
  output: Writable;
  /** Writes to their stderr. */
  complain(line: string): void;
  /** Aborts when they are gone. */
  signal: AbortSignal;
}

/** A client, and who they are at this moment. */
export interface Visit extends Client {
  viewer: PersonViewer;
}
