import { internal } from '../../kernel/index.ts';
import type { BrowseDeps } from '../objects/browse.ts';

interface GitQuery {
  /** Arguments after `--git-dir`. Never user text in option position. */
  argv: readonly string[];
  /** Exit codes that count as a result; 0 only by default. */
  accepts?: readonly number[];
  timeLimitMs?: number;
  maxOutputBytes?: number;
  signal?: AbortSignal | undefined;
  /** Environment variables of this process only. */
  environment?: Readonly<Record<string, string>> | undefined;
}

/** Time limit of git for one page (security I05). */
export const pageLimitMs = 5_000;

/** Runs a short git command on one repository. Throws `git_busy`. */
export async function queryGit(
  { runner, shortSlots, limits }: BrowseDeps,
  path: string,
  {
    argv,
    accepts = [0],
    timeLimitMs = pageLimitMs,
    maxOutputBytes = limits.shortOutputBytes,
    signal,
    environment,
  }: GitQuery,
): Promise<{ code: number; output: Buffer }> {
  const leave = await shortSlots.acquire({ repository: path }, signal);
  try {
    const command = {
      argv: [`--git-dir=${path}`, ...argv],
      timeLimitMs,
      memoryLimitBytes: limits.readMemoryBytes,
      signal,
      environment,
    };
    const { code, output, errorText } = await runner.run(command, maxOutputBytes);
    if (code === null || !accepts.includes(code))
      throw internal('git could not answer', { cause: { argv, code, errorText } });
    return { code, output };
  } finally {
    leave();
  }
}

/** The non-empty lines of git's output. */
export const linesOf = (output: Buffer): string[] =>
  output
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '');
