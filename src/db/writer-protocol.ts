/** Messages between the write connection (main thread) and the thread that owns it. */

export interface WriterOptions {
  file: string;
  /** Time that SQLite may wait for another process's lock, in milliseconds. */
  busyTimeoutMs: number;
}

export type WriterRequest =
  | { id: number; kind: 'query'; sql: string; parameters: unknown[] }
  | { id: number; kind: 'close' };

export interface WriterError {
  message: string;
  /** SQLite's extended result code, for example 2067 for a unique constraint. */
  errcode: number;
}

export type WriterReply =
  | { id: number; rows: unknown[] }
  | { id: number; changes: number; lastInsertRowid: number }
  | { id: number; error: WriterError };
