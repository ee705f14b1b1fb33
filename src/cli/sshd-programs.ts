import type { CliProcess } from './cli-process.ts';

/*
 * The two helpers of the system's sshd. sshd starts both for every session, so they load nothing but the socket to the
 * running server: no commander, no database, and no settings when --data-dir is given.
 */

/** The words after `ssh keys` or `ssh shell`. */
interface Helper {
  words: readonly string[];
  dataDir: string;
  /** The path of this program, for sshd. */
  program: string;
}

/**
 * `ssh keys USER TYPE KEY`: AuthorizedKeysCommand of sshd; prints the offered key if it belongs to an account. A
 * failure is an empty list for sshd; the reason goes to standard error, which sshd logs.
 */
export async function printKeys(
  process: CliProcess,
  { words: [, type = '', key = ''], dataDir, program }: Helper,
): Promise<number> {
  const { runControlCommand } = await import('../control/index.ts');
  let keyId = '';
  const code = await runControlCommand(
    dataDir,
    { command: 'ssh.keys', parameters: { type, key } },
    {
      output: (chunk) => void (keyId += chunk.toString('utf8')),
      writeError: (text) => void process.stderr.write(`${text}\n`),
    },
  );
  if (/^[0-9a-f-]{36}$/.test(keyId)) {
    const command = [program, 'ssh', 'shell', '--data-dir', dataDir, keyId].map(quoted).join(' ');
    process.stdout.write(`restrict,command="${command.replaceAll('"', '\\"')}" ${type} ${key}\n`);
  }
  return code;
}

/** `ssh shell KEY-ID`: the forced command of that line. The server handles the session; this process forwards bytes. */
export async function serveShell(process: CliProcess, { words: [keyId = ''], dataDir }: Helper): Promise<number> {
  const { runControlCommand } = await import('../control/index.ts');
  const [address = '', , , port = '0'] = (process.env['SSH_CONNECTION'] ?? '').split(' ');
  return runControlCommand(
    dataDir,
    {
      command: 'ssh.shell',
      parameters: {
        keyId,
        address,
        port: Number(port),
        command: process.env['SSH_ORIGINAL_COMMAND'] ?? '',
        protocol: process.env['GIT_PROTOCOL'] ?? null,
      },
    },
    {
      input: process.stdin,
      // Waits for each chunk to be written; a disconnected client ends the session.
      output: (chunk) =>
        new Promise(
          (resolve, reject) => void process.stdout.write(chunk, (error) => (error ? reject(error) : resolve())),
        ),
      writeError: (text) => void process.stderr.write(text),
    },
  );
}

/** Runs `hearth ssh keys|shell …` without the tree of commands. Null for anything else, including help. */
export async function runSshdHelper(process: CliProcess, words: readonly string[]): Promise<number | null> {
  const [noun, verb, ...rest] = words;
  if (noun !== 'ssh' || (verb !== 'keys' && verb !== 'shell')) return null;
  const plain: string[] = [];
  let dataDir: string | undefined;
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at]!;
    if (word === '--data-dir') dataDir = rest[(at += 1)];
    // The tree of commands handles the rest: --help, --config, or errors.
    else if (word.startsWith('-')) return null;
    else plain.push(word);
  }
  if (dataDir === undefined || plain.length !== (verb === 'keys' ? 3 : 1)) return null;
  try {
    return await (verb === 'keys' ? printKeys : serveShell)(process, {
      words: plain,
      dataDir,
      program: await programPath(process),
    });
  } catch (error) {
    process.stderr.write(`hearth: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

/** The path of this program: the executable itself, or the starter of a checkout. */
export async function programPath({ argv: [node = '', script = ''] }: CliProcess): Promise<string> {
  const { embedded } = await import('../embedded/index.ts');
  return embedded.isExecutable ? node : script.replace(/\.ts$/, '');
}

/** Quoted for the shell in which sshd runs the command. */
function quoted(word: string): string {
  return /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
