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
  for (const [name, { value, get }] of Object.entries(Object.getOwnPropertyDescriptors(table))) {
    if (Array.isArray(table) && name === 'length') continue;
    Object.defineProperty(made, name, { enumerable: true, configurable: true, ...readingOf(value, get) });
  }
  return made;
}

/** What was translated before reads as it did. */
function readingOf(value: unknown, get: (() => unknown) | undefined): PropertyDescriptor {
  if (get !== undefined) return { get };
  if (isKey(value)) return { get: () => t(value) };
  return { value: isTable(value) ? translated(value) : value };
}

/** Lists and plain objects; a pattern, for one, stays what it is. */
const isTable = (value: unknown): value is object =>
  Array.isArray(value) ||
  (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype);
