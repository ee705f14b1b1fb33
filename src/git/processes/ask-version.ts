import { closeSync, openSync, readFileSync, readSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * What the program answers when it is asked for its version. Starting it takes a tenth of a
 * server's start, so the answer is kept, and holds for as long as the program is the same file.
 * Of a script, which may lead to any program, none is kept.
 *
 * @param program absolute path
 * @param folder where the answer is kept
 * @param ask starts the program
 * @param judge throws when the answer is none to go on with; such a one is not kept
 */
export async function askVersion<T>(
  program: string,
  folder: string,
  ask: () => Promise<string>,
  judge: (answer: string) => T,
): Promise<T> {
  const file = path.join(folder, 'version');
  const identity = identityOf(program);
  const kept = readKept(file);
  if (kept?.identity === identity) return judge(kept.answer);
  const answer = await ask();
  const judged = judge(answer);
  if (isMachineCode(program)) keep(file, { identity, answer });
  return judged;
}

interface Kept {
  identity: string;
  answer: string;
}

function readKept(file: string): Kept | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Kept;
  } catch {
    return null; // Not asked yet, or what a crash has left.
  }
}

function keep(file: string, kept: Kept): void {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, JSON.stringify(kept), { mode: 0o600 });
  renameSync(fresh, file);
}

/** Differs for every other file, and after every change of this one. */
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
    return false; // It may be started, but not read.
  }
  return beginning.toString('latin1') === '\x7fELF';
}
