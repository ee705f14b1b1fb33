import { closeSync, openSync, readFileSync, readSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * The program's version output, cached in a file. Starting git takes a tenth of a server's start, so the cached output
 * is used while the program file is unchanged. The output of a script is not cached: it may start any program. An
 * unacceptable cached value counts as absent.
 * @param program absolute path
 * @param folder of the cache file
 * @param runVersion starts the program
 * @param validate throws if the version is not acceptable; such output is not cached
 */
export async function cachedVersion<T>(
  program: string,
  folder: string,
  runVersion: () => Promise<string>,
  validate: (output: string) => T,
): Promise<T> {
  const file = path.join(folder, 'git-version.json');
  const identity = identityOf(program);
  // Older releases trust this file in any format, so a release started after a rollback must run git itself.
  rmSync(path.join(folder, 'version'), { force: true });
  const cached = readCached(file);
  if (cached?.identity === identity && typeof cached.output === 'string') {
    try {
      return validate(cached.output);
    } catch {
      // Truncated, changed, or checked by other rules: runs the program itself.
    }
  }
  const output = await runVersion();
  const version = validate(output);
  if (isMachineCode(program)) writeCached(file, { identity, output });
  return version;
}

interface CachedVersion {
  identity: string;
  output: string;
}

/** The content of the file, possibly written by another version. */
function readCached(file: string): Partial<Record<keyof CachedVersion, unknown>> | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<Record<keyof CachedVersion, unknown>> | null;
  } catch {
    return null; // No cache file yet, or one that a crash left incomplete.
  }
}

function writeCached(file: string, cached: CachedVersion): void {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, JSON.stringify(cached), { mode: 0o600 });
  renameSync(fresh, file);
}

/** Identity of the program file; changes whenever the file is replaced or modified. */
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
