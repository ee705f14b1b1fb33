import { closeSync, openSync, readFileSync, readSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * The program's version output, cached in a file. Starting git takes a tenth of a server's start, so the cached output
 * is used as long as the program is the same file. The output of a script is not cached: it may start any program.
 * @param program absolute path
 * @param folder of the cache file
 * @param runVersion starts the program
 * @param judge throws when the version is not acceptable; such output is not cached
 */
export async function cachedVersion<T>(
  program: string,
  folder: string,
  runVersion: () => Promise<string>,
  validate: (output: string) => T,
): Promise<T> {
  const file = path.join(folder, 'version');
  const identity = identityOf(program);
  const cached = readCached(file);
  if (cached?.identity === identity) return validate(cached.output);
  const output = await runVersion();
  const version = validate(output);
  if (isMachineCode(program)) writeCached(file, { identity, output });
  return version;
}

interface CachedVersion {
  identity: string;
  output: string;
}

function readCached(file: string): CachedVersion | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as CachedVersion;
  } catch {
    return null; // No cache file yet, or one that a crash left incomplete.
  }
}

function writeCached(file: string, cached: CachedVersion): void {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, JSON.stringify(cached), { mode: 0o600 });
  renameSync(fresh, file);
}

/** Identity of the program file; differs for every other file, and after every change of this one. */
function identityOf(program: string): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(program, { bigint: true });
  return [program, dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

function isMachineCode(program: string): boolean {
  const beginning = Buffer.alloc(4);
  try {
    const file = openSync(program, 'r');
    readSync(file, beginning);
    closeSync(file);
  } catch {
    return false; // The file may be executable but not readable.
  }
  return beginning.toString('latin1') === '\x7fELF';
}
