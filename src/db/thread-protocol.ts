/** Messages between the main thread and a side thread, which owns one connection for long statements. */

export interface ThreadOptions {
  file: string;
  readOnly: boolean;
  /** Further files, by the name that statements call them. */
  attached?: Readonly<Record<string, string>>;
  /** Statements that prepare the connection or, in a file of derived data, make what is missing. */
  setUp: readonly string[];
  /** How far the thread stands back from the others where all want a processor, 0 to 19 as `nice` counts. */
  niceness?: number;
}

export interface ThreadStatement {
  sql: string;
  /** By name, without the colon, or by position. */
  parameters: Record<string, unknown> | unknown[];
}

/** Several statements are one transaction; the answer is the rows of each. */
export interface ThreadRequest {
  id: number;
  statements: ThreadStatement[];
}

export type ThreadRow = Record<string, unknown>;
export type ThreadReply =
  | { id: number; rows: ThreadRow[][] }
  | { id: number; error: { message: string; errcode: number } };
