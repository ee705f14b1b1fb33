import { writeSync } from 'node:fs';
import { embedded } from '../embedded/index.ts';
import type { CliProcess, CliSignal } from './cli-process.ts';
import type { CliTools } from './cli.ts';

export type { CliProcess } from './cli-process.ts';
export type { CliTools } from './cli.ts';

/**
 * Runs one command line and ends the process: the only place that does. Returns the exit code, for callers whose `exit`
 * returns.
 */
export async function main(process: CliProcess, tools: Partial<CliTools> = {}): Promise<number> {
  const words = process.argv.slice(2);
  if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
    // Before anything else is loaded, since scripts often request it.
    printAtOnce(process, `${embedded.version}\n`);
    process.exit(0);
    return 0;
  }
  let onSignal: ((signal: CliSignal) => void) | null = null;
  let code: number;

  // Files of a command are private to its user (security K03).
  process.umask(0o077);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosed);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => (onSignal === null ? process.exit(signal === 'SIGINT' ? 130 : 143) : onSignal(signal)));
  }

  if (words[0] === 'ssh' && (code = await sshHelper(process, words)) !== -1) {
    // sshd starts these for every session.
  } else {
    const [{ runCommand }, { systemClock }] = await Promise.all([
      import('./run-command.ts'),
      import('../kernel/index.ts'),
    ]);
    code = await runCommand(process, words, {
      clock: systemClock,
      ...tools,
      onSignal: (handler) => (onSignal = handler),
    });
  }

  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit(code);
  return code;
}

/** -1 unless the command is one of sshd's two helpers, in the form that sshd uses. */
async function sshHelper(process: CliProcess, words: readonly string[]): Promise<number> {
  const { runSshdHelper } = await import('./sshd-programs.ts');
  return (await runSshdHelper(process, words)) ?? -1;
}

/** Without a stream where possible: Node takes longer to create one than for everything else here. */
function printAtOnce(process: CliProcess, text: string): void {
  try {
    if (process === globalThis.process) return void writeSync(1, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EPIPE') return;
    if (code !== 'EAGAIN') throw error;
  }
  process.stdout.write(text);
}

/** `hearth user list | head -1`: a closed pipe is not an error. */
function ignoreClosed(error: Error): void {
  if (!('code' in error) || error.code !== 'EPIPE') throw error;
}

function flushed(stream: CliProcess['stdout']): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}
