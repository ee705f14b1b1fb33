import { readFileSync } from 'node:fs';
import { invalid } from '../../kernel/index.ts';
import type { Cli } from '../cli.ts';
import { withHint } from '../report-error.ts';

/** The text of a key file; `-` reads standard input. Throws `key_file`. */
export const readKeyLine = async (cli: Cli, file: string): Promise<string> =>
  file === '-' ? readInput(cli) : readKeyFile(file);

async function readInput(cli: Cli): Promise<string> {
  if (cli.mayAsk) cli.output.message('Paste the public key, then press Enter and Ctrl-D:');
  const parts: Buffer[] = [];
  for await (const part of cli.process.stdin) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString('utf8');
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw withHint(
      invalid('key_file', `The key file ${path} cannot be read.`),
      `commands run as the owner of the data, which may not be able to read your home folder: hearth key add … - < ${path}`,
    );
  }
}
