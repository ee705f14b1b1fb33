import { t } from './translate.ts';

/** How a key of a message looks: at least three words with dots between them. */
const isKey = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z0-9_]+(?:\.[a-z0-9_]+){2,}$/.test(value);

/**
 * A table of views whose keys of messages read as their message, in the language of the reader: each time, so that
 * the table is written once for all languages.
 * @param table objects and lists within each other; what is no key stays as it is
 */
export function translated<Table extends object>(table: Table): Table {
  const made = (Array.isArray(table) ? [] : {}) as Table;
  for (const [name, value] of Object.entries(table) as [keyof Table, unknown][])
    Object.defineProperty(made, name, {
      enumerable: true,
      configurable: true,
      ...(isKey(value)
        ? { get: () => t(value) }
        : { value: typeof value === 'object' && value !== null ? translated(value) : value }),
    });
  return made;
}
