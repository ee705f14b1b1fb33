import type { Readable } from 'node:stream';
import { isDomainError, yieldToEventLoop } from '../../kernel/index.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import { pageLimitMs } from './query-git.ts';

export interface ReadOptions {
  timeLimitMs?: number;
  signal?: AbortSignal | undefined;
  /** Runs at background CPU priority, behind pages. */
  yields?: boolean;
  /**
   * Reads a command's output chunk by chunk while `take` returns true, then ends the command. Keeps only one chunk in
   * memory. Returns whether the output was read to its end: false if `take` stopped, time ran out or git failed. Throws
   * `git_busy`.
   */
  environment?: Readonly<Record<string, string>> | undefined;
}

/** The same for commands whose exit code matters; it is null if the process was killed. */
export async function readGit(
  deps: BrowseDeps,
  path: string,
  argv: readonly string[],
  take: (chunk: Buffer) => boolean,
  options: ReadOptions = {},
): Promise<boolean> {
  const { isWhole, code } = await readGitToEnd(deps, path, argv, take, options);
  return isWhole && code === 0;
}

/** Environment variables of this process only. */
export async function readGitToEnd(
  { runner, shortSlots, limits }: BrowseDeps,
  path: string,
  argv: readonly string[],
  take: (chunk: Buffer) => boolean,
  { timeLimitMs = pageLimitMs, signal, yields = false, environment }: ReadOptions = {},
): Promise<{ isWhole: boolean; code: number | null }> {
  const leave = await shortSlots.acquire({ repository: path }, signal);
  try {
    const git = runner.start({
      argv: [`--git-dir=${path}`, ...argv],
      timeLimitMs,
      memoryLimitBytes: limits.readMemoryBytes,
      signal,
      yields,
      environment,
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

async function drain(stdout: Readable, take: (chunk: Buffer) => boolean): Promise<boolean> {
  try {
    for await (const chunk of stdout) {
      const wait = yieldToEventLoop();
      if (wait !== undefined) await wait;
      if (!take(chunk as Buffer)) return false;
    }
    return true;
  } catch (error) {
    if (isDomainError(error)) throw error;
    return false;
  }
}

/**
 * Calls `line` with every complete line of the received chunks, without its end; with the last one on `end`.
 * @param separator the byte that ends a line; a function is called before each
 */
export function lineSplitter(
  separator: number | (() => number),
  line: (bytes: Buffer) => boolean,
): { feed(chunk: Buffer): boolean; end(): void } {
  let rest: Buffer[] = [];
  const endFrom = (chunk: Buffer, start: number): number =>
    chunk.indexOf(typeof separator === 'number' ? separator : separator(), start);
  const whole = (last: Buffer): Buffer => {
    if (rest.length === 0) return last;
    const joined = Buffer.concat([...rest, last]);
    rest = [];
    return joined;
  };
  return {
    feed(chunk) {
      let start = 0;
      for (let at = endFrom(chunk, start); at !== -1; at = endFrom(chunk, start)) {
        if (!line(whole(chunk.subarray(start, at)))) return false;
        start = at + 1;
      }
      if (start < chunk.length) rest.push(chunk.subarray(start));
      return true;
    },
    end() {
      if (rest.length > 0) line(whole(Buffer.alloc(0)));
    },
  };
}
