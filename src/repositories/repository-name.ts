import { invalid } from '../kernel/index.ts';

const shape = /^[A-Za-z0-9._-]{1,100}$/;
const endings = ['.git', '.lock', '.wiki', '.atom'];
/** Properties of every object: as keys of a plain object they would resolve to a function. */
const reserved = new Set(Object.getOwnPropertyNames(Object.prototype).map(foldRepositoryName));

/** Names are stored as typed and compared case-insensitively. */
export function foldRepositoryName(name: string): string {
  return name.toLowerCase();
}

/**
 * Validates a repository name: 1 to 100 ASCII letters, digits, `-`, `_`, `.` in any place (`.github`), but not `.`,
 * `..`, two dots in a row, or a suffix with a meaning in URLs or to git. Throws `invalid_repository_name`.
 */
export function parseRepositoryName(text: string): string {
  const refuse = (message: string) => invalid('invalid_repository_name', message, { field: 'name' });
  if (text === '') throw refuse('Give the repository a name.');
  if (text.length > 100) throw refuse('A repository name has at most 100 characters.');
  if (!shape.test(text)) {
    throw refuse('Use letters, digits, "-", "_" and ".".');
  }
  if (text === '.') throw refuse('A repository name cannot be ".".');
  if (text.includes('..')) throw refuse('A repository name cannot contain "..".');
  const ending = endings.find((end) => foldRepositoryName(text).endsWith(end));
  if (ending !== undefined) throw refuse(`A repository name cannot end in "${ending}".`);
  if (reserved.has(foldRepositoryName(text))) throw refuse('This name is reserved.');
  return text;
}

/** For look-ups: an invalid name is simply absent. */
export function isRepositoryName(text: string): boolean {
  try {
    parseRepositoryName(text);
    return true;
  } catch {
    return false;
  }
}
