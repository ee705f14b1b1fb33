import { invalid } from '../../kernel/index.ts';
import type { Cli } from '../cli.ts';
import { promptHidden } from './prompt.ts';
import { readGivenFile } from './read-given-file.ts';
import { withHint } from '../report-error.ts';

/** Size limit of a secret, a password or a key. */
export const maxSecretBytes = 64 * 1024;
const tooLong = () => invalid('secret_too_long', 'The input is too long for a secret.');

/** All of standard input. */
export async function readAll(
  stdin: AsyncIterable<Buffer | string>,
  tooLong: () => Error,
  most = maxSecretBytes,
): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stdin) {
    parts.push(Buffer.from(part));
    bytes += part.length;
    if (bytes > most) throw tooLong();
  }
  return Buffer.concat(parts).toString('utf8');
}

/**
 * A secret from standard input or a file, without surrounding white space; on a terminal the user types it. No option
 * takes the secret itself: other users could see it. Throws `secret_missing`, `secret_file`, `secret_too_long`.
 */
export async function readSecret(
  cli: Cli,
  { secretStdin, secretFile }: { secretStdin?: true; secretFile?: string },
): Promise<string> {
  if (secretStdin && secretFile !== undefined)
    throw invalid('usage', 'Use only one of --secret-stdin and --secret-file.');
  if (secretStdin) return given(await readAll(cli.process.stdin, tooLong));
  if (secretFile !== undefined)
    return given(
      readGivenFile(cli, secretFile, {
        what: 'The file',
        reason: 'secret_file',
        maxBytes: maxSecretBytes,
        tooLong,
      }).toString('utf8'),
    );
  if (!cli.mayAsk) {
    throw withHint(
      invalid('secret_missing', 'A secret is required, but there is no terminal to prompt on.'),
      'use --secret-stdin or --secret-file PATH',
    );
  }
  return given(await promptHidden('Secret: ', cli.process.stdin, cli.process.stderr));
}

function given(text: string): string {
  const secret = text.trim();
  if (secret === '') throw invalid('secret_missing', 'The secret is empty.');
  return secret;
}
