/** An object that a row names. */
export interface ReferencedObject {
  key: string;
  /** Null where the row does not say. */
  bytes: number | null;
  /** Hex; null where the row does not say. */
  sha256: string | null;
}

type ObjectRow = Readonly<Record<string, unknown>>;

/** What is stored in objects, and the rows that name them. */
export interface ObjectKind {
  /** For people: `attachments`. */
  name: string;
  prefix: string;
  /** Selects rows after a cursor, the column `at`, in its order; its parameters are the cursor and a limit. */
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
 * All objects that rows of a kind name, in the order of the rows, in little memory; each with the cursor of its row.
 * @param from the cursor of the row before the first; all rows by default
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
