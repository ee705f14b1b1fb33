import { invalid } from '../../kernel/index.ts';
import type { Cli } from '../cli.ts';
import { readGivenFile } from '../terminal/read-given-file.ts';
import { maxSecretBytes as maxBytes, readAll } from '../terminal/read-secret.ts';

/** The text of a key file; `-` reads standard input. Throws `key_file`. */
export const readKeyLine = async (cli: Cli, file: string): Promise<string> =>
  file === '-' ? readInput(cli) : readKeyFile(cli, file);

/** The text of a key file. Throws `key_file`. */
export const readKeyFile = (cli: Cli, file: string): string =>
  readGivenFile(cli, file, { what: 'The key file', reason: 'key_file', maxBytes }).toString('utf8');

function readInput(cli: Cli): Promise<string> {
  if (cli.mayAsk) cli.output.message('Paste the public key, then press Enter and Ctrl-D:');
  return readAll(cli.process.stdin, () => invalid('key_file', `The input is longer than ${maxBytes / 1024} KiB.`));
}
