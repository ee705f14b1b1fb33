import type { Database } from '../../db/index.ts';

/** Rows of a statement with parameters as `:name`. Quoted text in it must not contain a colon. */
export async function queryWithNamedParameters<Row>(
  { read }: Pick<Database, 'read'>,
  sql: string,
  parameters: Readonly<Record<string, unknown>>,
): Promise<Row[]> {
  const values: unknown[] = [];
  const text = sql.replace(/:(\w+)/g, (_, name: string) => {
    values.push(parameters[name]);
    return '?';
  });
  return read.query(text, values);
}
