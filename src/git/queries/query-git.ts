import { internal } from '../../kernel/index.ts';
import type { BrowseDeps } from '../objects/browse.ts';

export interface GitQuery {
  /** Arguments after `--git-dir`. Never user text in option position. */
  argv: readonly string[];
  /** Exit codes that are an answer; 0 alone unless said otherwise. */
  accepts?: readonly number[];
  timeLimitMs?: number;
  maxOutputBytes?: number;
  signal?: AbortSignal | undefined;
}

/** How long a page may keep git busy (security I05). */
export const pageLimitMs = 5_000;

/** A short question to git about one repository. Refuses `git_busy`. */
export async function queryGit(
  { door, shortSlots, limits }: BrowseDeps,
  path: string,
  { argv, accepts = [0], timeLimitMs = pageLimitMs, maxOutputBytes = limits.shortOutputBytes, signal }: GitQuery,
): Promise<{ code: number; output: Buffer }> {
  const leave = await shortSlots.acquire({ repository: path }, signal);
  try {
    const command = {
      argv: [`--git-dir=${path}`, ...argv],
      timeLimitMs,
      memoryLimitBytes: limits.readMemoryBytes,
      signal,
    };
    const { code, output, complaint } = await door.run(command, maxOutputBytes);
    if (code === null || !accepts.includes(code))
      throw internal('git could not answer', { cause: { argv, code, complaint } });
    return { code, output };
  } finally {
    leave();
  }
}

/** What git printed line by line, without the empty ones. */
export const linesOf = (output: Buffer): string[] =>
  output
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '');
