import type { Readable, Writable } from 'node:stream';
import type { DeployKeyViewer, PersonViewer } from '../../access/index.ts';

/** One session of either SSH server: the streams to the client and data about the connection. */
export interface Session {
  address: string;
  /** The port to which the client connected. */
  port: number;
  /** Value of `GIT_PROTOCOL`; null if it was not sent. */
  protocol: string | null;
  input: Readable;
  output: Writable;
  /** Whether `output` no longer uses a write's bytes when it calls the callback. */
  takesBytesAtOnce?: boolean;
  /** Writes to the client's stderr. */
  writeError(line: string): void;
  /** Bytes moved so far. */
  moved(): { receivedBytes: number; sentBytes: number };
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
}

/** An authenticated client and its streams; the git protocol version is valid. */
export interface Client extends Session {
  /** The public key, in wire form, that authenticated this connection. */
  blob: Buffer;
}

/** A git client: an account or a deploy key, with its current state. */
export interface GitSession extends Client {
  viewer: PersonViewer | DeployKeyViewer;
}

/** A client, with the current state of its account. */
export interface AuthenticatedSession extends Client {
  viewer: PersonViewer;
}
