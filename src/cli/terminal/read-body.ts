import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { invalid } from '../../kernel/index.ts';
import type { Cli } from '../cli.ts';
import { readGivenFile } from './read-given-file.ts';
import { readAll } from './read-secret.ts';

/** The text of an issue or comment has at most 64 KiB. */
const maxBytes = 64 * 1024;

export interface BodyOptions {
  body?: string;
  file?: string;
}

/** Limit in bytes, if it is higher than that of a comment. */
interface BodyLimit {
  maxTextBytes?: number;
}

/**
 * The text of an issue or a comment: from an option, a file, standard input (`--file -`, or if there is no terminal),
 * or the user's editor. `work` sends it; if that fails, the edited text stays in a file, whose path is printed. Throws
 * `usage`, `text_too_long`, `unreadable_file`, `editor_failed`.
 * @param initial initial text in the editor
 */
export async function withBody<T>(
  cli: Cli,
  { body, file, maxTextBytes: most = maxBytes }: BodyOptions & BodyLimit,
  initial: string,
  work: (text: string) => Promise<T>,
): Promise<T> {
  if (body !== undefined && file !== undefined) throw invalid('usage', 'Use only one of --body and --file.');
  if (body !== undefined) return work(body);
  if (file !== undefined && file !== '-') return work(readText(cli, file, most));
  if (file === '-' || !cli.mayAsk) return work(await readAll(cli.process.stdin, () => tooLong(most), most));
  const folder = mkdtempSync(path.join(tmpdir(), 'hearth-'));
  const written = path.join(folder, 'text.md');
  try {
    writeFileSync(written, initial, { mode: 0o600 });
    await runEditor(cli, written);
    const result = await work(readText(cli, written, most));
    rmSync(folder, { recursive: true });
    return result;
  } catch (error) {
    cli.output.message(`Your text is saved in ${written}`);
    throw error;
  }
}

/** The bytes of a file; `-` is standard input. Throws `text_too_long` and `unreadable_file`. */
export async function readBytes(cli: Cli, file: string, most: number): Promise<Buffer> {
  if (file !== '-') return readFile(cli, file, most);
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of cli.process.stdin as AsyncIterable<Buffer | string>) {
    parts.push(Buffer.from(part as string));
    bytes += parts.at(-1)!.length;
    if (bytes > most) throw tooLong(most);
  }
  return Buffer.concat(parts);
}

const tooLong = (most: number) => invalid('text_too_long', `The text can have at most ${most / 1024} KiB.`);

const readFile = (cli: Cli, file: string, most: number): Buffer =>
  readGivenFile(cli, file, {
    what: 'The file',
    reason: 'unreadable_file',
    maxBytes: most,
    tooLong: () => tooLong(most),
  });

const readText = (cli: Cli, file: string, most: number): string => readFile(cli, file, most).toString('utf8');

/** As in git: the variable is a shell command line. */
function runEditor({ process }: Cli, file: string): Promise<void> {
  const editor = process.env['VISUAL'] || process.env['EDITOR'] || 'vi';
  const failed = () => invalid('editor_failed', `The editor ${editor} failed. Nothing was sent.`);
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
    child.once('error', () => reject(failed()));
    child.once('exit', (code) => (code === 0 ? resolve() : reject(failed())));
  });
}
