import { t } from './translate.ts';

/** The form of a message key: at least three words with dots between them. */
const isKey = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z0-9_]+(?:\.[a-z0-9_]+){2,}$/.test(value);

/**
 * A table of views whose message keys read as their message in the reader's language. They are translated at each
 * access, so that one table serves all languages.
 * @param table nested objects and lists; values other than keys stay unchanged
 */
export function translated<Table extends object>(table: Table): Table {
  const made = (Array.isArray(table) ? [] : {}) as Table;
  for (const [name, { value, get }] of Object.entries(Object.getOwnPropertyDescriptors(table))) {
    if (Array.isArray(table) && name === 'length') continue;
    Object.defineProperty(made, name, { enumerable: true, configurable: true, ...readingOf(value, get) });
  }
  return made;
}

/** Keeps a getter of an already translated table. */
function readingOf(value: unknown, get: (() => unknown) | undefined): PropertyDescriptor {
  if (get !== undefined) return { get };
  if (isKey(value)) return { get: () => t(value) };
  return { value: isTable(value) ? translated(value) : value };
}

/** Lists and plain objects only; other objects, such as patterns, stay unchanged. */
const isTable = (value: unknown): value is object =>
  Array.isArray(value) ||
  (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype);
