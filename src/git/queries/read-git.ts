import type { Readable } from 'node:stream';
import { isDomainError } from '../../kernel/index.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import { pageLimitMs } from './query-git.ts';

export interface ReadOptions {
  timeLimitMs?: number;
  signal?: AbortSignal | undefined;
  /** Leaves the processor to pages. */
  yields?: boolean;
}

/**
 * Reads a command's output piece by piece for as long as `take` answers true, then
 * ends the command. Only one piece is in memory at a time.
 * Answers whether everything there was has been read: not when `take` had enough,
 * time ran out or git failed.
 * Refuses `git_busy`.
 */
export async function readGit(
  deps: BrowseDeps,
  path: string,
  argv: readonly string[],
  take: (piece: Buffer) => boolean,
  options: ReadOptions = {},
): Promise<boolean> {
  const { isWhole, code } = await readGitToEnd(deps, path, argv, take, options);
  return isWhole && code === 0;
}

/** The same for commands whose exit code says something; it is null for one that was ended. */
export async function readGitToEnd(
  { door, shortSlots, limits }: BrowseDeps,
  path: string,
  argv: readonly string[],
  take: (piece: Buffer) => boolean,
  { timeLimitMs = pageLimitMs, signal, yields = false }: ReadOptions = {},
): Promise<{ isWhole: boolean; code: number | null }> {
  const leave = await shortSlots.acquire({ repository: path }, signal);
  try {
    const git = door.start({
      argv: [`--git-dir=${path}`, ...argv],
      timeLimitMs,
      memoryLimitBytes: limits.readMemoryBytes,
      signal,
      yields,
    });
    const isWhole = await drain(git.stdout!, take);
    if (!isWhole) git.stop('aborted');
    const { code } = await git.exited;
    signal?.throwIfAborted();
    return { isWhole, code };
  } finally {
    leave();
  }
}

async function drain(stdout: Readable, take: (piece: Buffer) => boolean): Promise<boolean> {
  try {
    for await (const piece of stdout) {
      if (!take(piece as Buffer)) return false;
    }
    return true;
  } catch (error) {
    if (isDomainError(error)) throw error;
    return false;
  }
}

/** Gives `line` every whole line of the pieces it is fed, without its end; the last one on `end`. */
export function lineSplitter(
  separator: number,
  line: (bytes: Buffer) => boolean,
): { feed(piece: Buffer): boolean; end(): void } {
  let rest: Buffer[] = [];
  const whole = (last: Buffer): Buffer => {
    if (rest.length === 0) return last;
    const joined = Buffer.concat([...rest, last]);
    rest = [];
    return joined;
  };
  return {
    feed(piece) {
      let start = 0;
      for (let at = piece.indexOf(separator, start); at !== -1; at = piece.indexOf(separator, start)) {
        if (!line(whole(piece.subarray(start, at)))) return false;
        start = at + 1;
      }
      if (start < piece.length) rest.push(piece.subarray(start));
      return true;
    },
    end() {
      if (rest.length > 0) line(whole(Buffer.alloc(0)));
    },
  };
}
