/** An object named by a row. */
export interface ReferencedObject {
  key: string;
  /** Null if the row does not contain it. */
  bytes: number | null;
  /** Hex; null if the row does not contain it. */
  sha256: string | null;
}

type ObjectRow = Readonly<Record<string, unknown>>;

/** A kind of stored objects, with queries for the rows that name them. */
export interface ObjectKind {
  /** Display name: `attachments`. */
  name: string;
  prefix: string;
  /** Selects rows after a cursor, in the order of the column `at`; its parameters are the cursor and a limit. */
  sql: string;
  /** Before the first cursor. */
  start: string | number;
  /** Selects further rows for each of those; its parameter is the cursor. */
  inner?: string;
  objectsOf(row: ObjectRow, inner: readonly ObjectRow[]): ReferencedObject[];
}

/** Runs one statement. */
export type QueryRows = (sql: string, parameters: unknown[]) => Promise<readonly ObjectRow[]>;

const rowsAtOnce = 500;

/**
 * All objects named by rows of a kind, in row order, with little memory; each with the cursor of its row.
 * @param from the cursor before the first row; all rows by default
 */
export async function* listReferencedObjects(
  kind: ObjectKind,
  ask: QueryRows,
  from: string | number = kind.start,
): AsyncGenerator<ReferencedObject & { at: string | number }> {
  for (let after: unknown = from; ; ) {
    const rows = await ask(kind.sql, [after, rowsAtOnce]);
    for (const row of rows) {
      const inner = kind.inner === undefined ? [] : await ask(kind.inner, [row['at']]);
      const at = row['at'] as string | number;
      for (const object of kind.objectsOf(row, inner)) yield { ...object, at };
    }
    if (rows.length < rowsAtOnce) return;
    after = rows.at(-1)!['at'];
  }
}
