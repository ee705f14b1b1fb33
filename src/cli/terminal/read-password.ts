import { invalid } from '../../kernel/index.ts';
import type { Cli } from '../cli.ts';
import { promptHidden } from './prompt.ts';
import { readGivenFile } from './read-given-file.ts';
import { maxSecretBytes as maxBytes, readAll } from './read-secret.ts';
import { withHint } from '../report-error.ts';

/** Options for passing a password. There is no option that takes the password itself: other users could see it. */
export interface PasswordOptions {
  passwordStdin?: true;
  passwordFile?: string;
  randomPassword?: true;
}

/** A password, and whether it was generated: a generated one must be shown, and changed at the first sign-in. */
interface GivenPassword {
  readonly password: string;
  readonly isRandom: boolean;
}

const tooLong = () => invalid('password_too_long', 'The input is too long for a password.');

/** Adds the three options to a command. */
export const passwordOptions = [
  ['--password-stdin', 'read the password from standard input'],
  ['--password-file <path>', 'read the password from a file'],
  ['--random-password', 'generate one and print it; it must be changed at first sign-in'],
] as const;

/**
 * Reads the new password in the chosen way; on a terminal it is typed twice. Throws `password_missing`,
 * `passwords_differ`, `password_file`.
 * @param suggest generates a random one
 */
export async function readPassword(cli: Cli, options: PasswordOptions, suggest: () => string): Promise<GivenPassword> {
  const ways = [options.passwordStdin, options.passwordFile, options.randomPassword].filter((way) => way !== undefined);
  if (ways.length > 1)
    throw invalid('usage', 'Use only one of --password-stdin, --password-file and --random-password.');
  if (options.randomPassword) return { password: suggest(), isRandom: true };
  if (options.passwordStdin) return { password: lineOf(await readAll(cli.process.stdin, tooLong)), isRandom: false };
  if (options.passwordFile !== undefined)
    return { password: lineOf(passwordIn(cli, options.passwordFile)), isRandom: false };
  if (!cli.mayAsk) {
    throw withHint(
      invalid('password_missing', 'A password is required, but there is no terminal to prompt on.'),
      'use --password-stdin, --password-file PATH or --random-password',
    );
  }
  const { stdin, stderr } = cli.process;
  const password = await promptHidden('New password: ', stdin, stderr);
  if ((await promptHidden('Repeat password: ', stdin, stderr)) !== password) {
    throw invalid('passwords_differ', 'The passwords do not match. Nothing was changed.');
  }
  return { password, isRandom: false };
}

const passwordIn = (cli: Cli, file: string): string =>
  readGivenFile(cli, file, { what: 'The password file', reason: 'password_file', maxBytes, tooLong }).toString('utf8');

/** `echo` and editors end a line; the line end is not part of the password. */
function lineOf(text: string): string {
  const line = text.replace(/\r?\n$/, '');
  if (line === '') throw invalid('password_missing', 'The password is empty.');
  return line;
}
