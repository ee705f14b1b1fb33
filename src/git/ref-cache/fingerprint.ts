import { statSync } from 'node:fs';

/** A file or folder of a repository whose change can affect the refs. */
interface Watched {
  file: string | Buffer;
  kind: Kind;
  /** Its stat; zeros when it did not exist. */
  inode: number;
  size: number;
  modifiedMs: number;
}

/** For a folder, its time suffices without its size; for some paths only existence counts. */
type Kind = 'file' | 'folder' | 'presence';

/**
 * Stat values of the files and folders that hold refs, at one moment. git renames a lock into place whenever it
 * changes a ref, so a folder's time changes with every change below it.
 */
export class Fingerprint {
  readonly #watched: Watched[];

  private constructor(watched: Watched[]) {
    this.#watched = watched;
  }

  /**
   * Stats `HEAD`, `packed-refs`, `config`, the files that make a repository unsupported, and every folder of refs.
   * Synchronous: eight stat calls from the kernel's cache cost less than one trip through the thread pool.
   * @param folders below the repository, one character per byte
   */
  static take(repository: string, folders: readonly string[]): Fingerprint {
    const watched = fixed.map(([name, kind]) => look(placeIn(repository, name), kind));
    for (const name of folders) watched.push(look(placeIn(repository, name), 'folder'));
    return new Fingerprint(watched);
  }

  /** Whether `packed-refs` is surely unchanged since this was taken, at `takenMs`. */
  agreesOnPackedRefs(later: Fingerprint, takenMs: number): boolean {
    const [before, now] = [this.#watched[1]!, later.#watched[1]!];
    return isSame(before, now) && takenMs - before.modifiedMs > stepMs;
  }

  /** Whether the repository borrows objects, is shallow or corrupt: git handles these. */
  get isUnsupported(): boolean {
    const [, , , shallow, alternates, objects] = this.#watched;
    return shallow!.inode !== 0 || alternates!.inode !== 0 || objects!.inode === 0;
  }

  /** Whether nothing has changed since. */
  isCurrent(): boolean {
    return this.#watched.every((before) => isSame(before, look(before.file, before.kind)));
  }

  /** Whether nothing changed between the two moments, not even back and forth. */
  isSameAs(later: Fingerprint): boolean {
    return (
      this.#watched.length === later.#watched.length &&
      this.#watched.every((before, at) => isSame(before, later.#watched[at]!))
    );
  }

  /**
   * Whether the next change is sure to be detected. File times advance in steps of some milliseconds: a file that was
   * just changed may change again within the same step.
   * @param takenMs when this was taken, or a little earlier
   */
  isSettled(takenMs: number): boolean {
    return this.#watched.every(({ modifiedMs }) => takenMs - modifiedMs > stepMs);
  }
}

/** Above the longest step of file times in any kernel, in milliseconds. */
const stepMs = 20;

/** Other methods rely on the order of this list. */
const fixed: readonly (readonly [name: string, kind: Kind])[] = [
  ['HEAD', 'file'],
  ['packed-refs', 'file'],
  ['config', 'file'],
  ['shallow', 'file'],
  ['objects/info/alternates', 'file'],
  ['objects', 'presence'],
];

function look(file: string | Buffer, kind: Kind): Watched {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return { file, kind, inode: 0, size: 0, modifiedMs: 0 };
  const { ino: inode, size, mtimeMs: modifiedMs } = found;
  if (kind === 'presence') return { file, kind, inode, size: 0, modifiedMs: 0 };
  return { file, kind, inode, size: kind === 'folder' ? 0 : size, modifiedMs };
}

function isSame(one: Watched, other: Watched): boolean {
  return one.inode === other.inode && one.modifiedMs === other.modifiedMs && one.size === other.size;
}

/**
 * @param name one character per byte: ref names are bytes
 */
export function placeIn(repository: string, name: string): string | Buffer {
  if (!/[\x80-\xff]/.test(name)) return `${repository}/${name}`;
  return Buffer.concat([Buffer.from(`${repository}/`), Buffer.from(name, 'latin1')]);
}
