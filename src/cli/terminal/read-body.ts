import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { invalid } from '../../kernel/index.ts';
import type { Cli } from '../cli.ts';
import { readAll } from './read-secret.ts';

/** The text of an issue or comment has at most 64 KiB. */
const maxBytes = 64 * 1024;

export interface BodyOptions {
  body?: string;
  file?: string;
}

/**
 * The text of an issue or a comment: from an option, a file, standard input (`--file -`, and where there is no
 * terminal), or the editor of the person at the terminal. `work` sends it; when that fails, what was written in the
 * editor stays in a file, whose path is printed. Refuses `usage`, `text_too_long`, `editor_failed`.
 * @param initial what the editor begins with
 */
export async function withBody<T>(
  cli: Cli,
  { body, file }: BodyOptions,
  initial: string,
  work: (text: string) => Promise<T>,
): Promise<T> {
  if (body !== undefined && file !== undefined) throw invalid('usage', 'Give one of --body and --file.');
  if (body !== undefined) return work(body);
  if (file !== undefined && file !== '-') return work(readText(path.resolve(cli.process.cwd(), file)));
  if (file === '-' || !cli.mayAsk) return work(await readAll(cli.process.stdin, tooLong));
  const folder = mkdtempSync(path.join(tmpdir(), 'hearth-'));
  const written = path.join(folder, 'text.md');
  try {
    writeFileSync(written, initial, { mode: 0o600 });
    await runEditor(cli, written);
    const result = await work(readText(written));
    rmSync(folder, { recursive: true });
    return result;
  } catch (error) {
    cli.output.message(`What you wrote is in ${written}`);
    throw error;
  }
}

const tooLong = () => invalid('text_too_long', `The text may have at most ${maxBytes / 1024} KiB.`);

function readText(file: string): string {
  if (statSync(file).size > maxBytes) throw tooLong();
  return readFileSync(file, 'utf8');
}

/** As git does: the variable is a command line of the shell. */
function runEditor({ process }: Cli, file: string): Promise<void> {
  const editor = process.env['VISUAL'] || process.env['EDITOR'] || 'vi';
  const failed = () => invalid('editor_failed', `The editor ${editor} failed. Nothing was sent.`);
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
    child.once('error', () => reject(failed()));
    child.once('exit', (code) => (code === 0 ? resolve() : reject(failed())));
  });
}
