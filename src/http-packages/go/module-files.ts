import { isModuleFile } from './module-path.ts';
import { maxGoModBytes } from './go-mod.ts';

/** Go's limit of the unpacked size of a module, in bytes. */
const maxModuleBytes = 500 * 1024 * 1024;

/** A file in the folder of a module. */
export interface SourceFile {
  /** Path relative to the folder. */
  path: string;
  /** Octal, as in git. */
  mode: string;
  bytes: number;
}

/** The reason why Go would not archive the files. */
export class UnfitFiles extends Error {}

/**
 * The files that belong to a module, in the given order (go.dev/ref/mod, "Module zip files"): without nested modules,
 * packages in `vendor` folders, symbolic links, and entries that are not files. Throws `UnfitFiles` if a name or a size
 * is not allowed.
 * @param isSince124 whether its `go.mod` requires Go 1.24 or later, which omits more of `vendor`
 */
export function chooseFiles(files: readonly SourceFile[], isSince124: boolean): SourceFile[] {
  const others = new Set(
    files
      .filter(({ path, mode }) => /\/go\.mod$/i.test(path) && isRegular(mode))
      .map(({ path }) => path.slice(0, path.lastIndexOf('/'))),
  );
  const folded = new FoldedPaths();
  let left = maxModuleBytes;
  const chosen: SourceFile[] = [];
  for (const file of files) {
    const { path, mode, bytes } = file;
    if (isVendored(path, isSince124) || isBelow(path, others) || path === '.hg_archival.txt') continue;
    if (!isModuleFile(path)) throw new UnfitFiles(`the name of the file ${JSON.stringify(path)} is not allowed`);
    if (path.toLowerCase() === 'go.mod' && path !== 'go.mod')
      throw new UnfitFiles(`the name ${path} has to be in lower case`);
    const other = folded.add(path);
    if (other !== null) throw new UnfitFiles(`${other} and ${path} differ by case alone`);
    if (!isRegular(mode)) continue;
    left -= bytes;
    if (left < 0) throw new UnfitFiles('its files have more than 500 MiB');
    if ((path === 'go.mod' || path === 'LICENSE') && bytes > maxGoModBytes)
      throw new UnfitFiles(`${path} has more than 16 MiB`);
    chosen.push(file);
  }
  return chosen;
}

const isRegular = (mode: string): boolean => mode.startsWith('100');

function isBelow(path: string, folders: ReadonlySet<string>): boolean {
  if (folders.size === 0) return false;
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    if (folders.has(path.slice(0, end))) return true;
  return false;
}

/** Go used the wrong part of the path of a nested `vendor` folder, and checksums depend on it. */
function isVendored(path: string, isSince124: boolean): boolean {
  if (isSince124 && path === 'vendor/modules.txt') return true;
  const word = 'vendor/';
  if (path.startsWith(word)) return path.includes('/', word.length);
  const at = path.indexOf(`/${word}`);
  return at !== -1 && path.includes('/', isSince124 ? at + word.length + 1 : word.length + 1);
}

/** Letter by letter: no letter maps to two. */
const fold = (path: string): string =>
  /^[\0-\x7f]*$/.test(path)
    ? path.toLowerCase()
    : path.replace(/./gu, (letter) => {
        const upper = letter.toUpperCase();
        return (upper.length === letter.length ? upper : letter).toLowerCase();
      });

/** Paths of files and of their folders, no two of which may differ only by case. */
class FoldedPaths {
  readonly #known = new Map<string, { path: string; isFolder: boolean }>();

  /**
   * @returns the path that it collides with, or null
   */
  add(path: string, isFolder = false): string | null {
    const key = fold(path);
    const known = this.#known.get(key);
    if (known !== undefined) return known.path === path && known.isFolder && isFolder ? null : known.path;
    this.#known.set(key, { path, isFolder });
    const slash = path.lastIndexOf('/');
    return slash === -1 ? null : this.add(path.slice(0, slash), true);
  }
}
