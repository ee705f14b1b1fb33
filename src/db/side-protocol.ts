/** Messages between the main thread and a side thread, which owns one connection for long statements. */

export interface SideOptions {
  file: string;
  readOnly: boolean;
  /** Further files, by the name that statements call them. */
  attached?: Readonly<Record<string, string>>;
  /** Statements that prepare the connection or, in a file of derived data, make what is missing. */
  setUp: readonly string[];
  /** How far the thread stands back from the others where all want a processor, 0 to 19 as `nice` counts. */
  niceness?: number;
}

export interface SideStatement {
  sql: string;
  /** By name, without the colon, or by position. */
  parameters: Record<string, unknown> | unknown[];
}

/** Several statements are one transaction; the answer is the rows of each. */
export interface SideRequest {
  id: number;
  statements: SideStatement[];
}

export type SideRow = Record<string, unknown>;
export type SideReply = { id: number; rows: SideRow[][] } | { id: number; error: { message: string; errcode: number } };
