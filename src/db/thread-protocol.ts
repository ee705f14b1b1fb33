/** Messages between the main thread and a worker thread with a read connection. */

export interface ThreadOptions {
  file: string;
  readOnly: boolean;
  /** Further files, by their schema names in the statements. */
  attached?: Readonly<Record<string, string>>;
  /** Statements that prepare the connection or, in a file of derived data, create missing tables. */
  setUp: readonly string[];
  /** Scheduling priority of the thread, 0 to 19 as for `nice`. */
  niceness?: number;
}

export interface ThreadStatement {
  sql: string;
  /** By name, without the colon, or by position. */
  parameters: Record<string, unknown> | unknown[];
}

/** Several statements run in one transaction; the reply has the rows of each. */
export interface ThreadRequest {
  id: number;
  statements: ThreadStatement[];
}

export type ThreadRow = Record<string, unknown>;
export type ThreadReply =
  | { id: number; rows: ThreadRow[][] }
  | { id: number; error: { message: string; errcode: number } };
