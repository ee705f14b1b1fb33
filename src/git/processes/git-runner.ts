import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { currentCharge, diskFull, freeMemory, internal, saysDiskFull, unavailable } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import { launchDirectly } from './child.ts';
import type { Child, Launch } from './child.ts';
import type { GitSettings } from './settings.ts';
import { watchMemory } from './watch-limits.ts';

/** Why a process was killed before it had finished. */
export type StopReason =
  | 'aborted'
  | 'time_limit'
  | 'effort_limit'
  | 'memory_limit'
  | 'output_limit'
  | 'stalled'
  | 'input_failed'
  | 'shutdown';

interface GitCommand {
  /** Arguments after `git`. Never user text in option position. */
  argv: readonly string[];
  timeLimitMs: number;
  /** Whether the process gets input; otherwise its stdin is empty. */
  takesInput?: boolean;
  /**
   * Receives the output instead of `stdout`: an open file, or a socket, which is closed here as soon as the child has
   * it.
   */
  output?: Socket | number | undefined;
  /** The client's `Git-Protocol`; values other than `version=0`, `1` or `2` are dropped. */
  protocol?: string | null | undefined;
  /** Kills the process group when the client disconnects. */
  signal?: AbortSignal | undefined;
  /** Limit of a single allocation in bytes; git exits if it needs more. */
  allocationLimitBytes?: number;
  /** Total memory limit in bytes; a process that exceeds it is killed. */
  memoryLimitBytes?: number;
  /** Starts at background CPU priority, behind pages. */
  yields?: boolean;
  /** Whether it serves many callers, so that no single one is charged for all of its CPU time. */
  isShared?: boolean;
  /** Environment variables of this process only, for a connection to another host. Never logged. */
  environment?: Readonly<Record<string, string>> | undefined;
  /** Called with the stderr of the process as it arrives. */
  onStderr?(text: string): void;
}

export interface GitExit {
  /** Null if a signal ended it. */
  code: number | null;
  stoppedBy: StopReason | null;
}

export interface GitProcess {
  /** Leader of its process group; 0 until it is known. */
  readonly pid: number;
  /** Null unless the command takes input. */
  stdin: Writable | null;
  /** Null if the output goes elsewhere. */
  stdout: Readable | null;
  /** Resolves when the process has exited and all its output pipes are closed. Never rejects. */
  exited: Promise<GitExit>;
  /** Sends SIGTERM to the whole process group, and SIGKILL three seconds later. */
  stop(reason: StopReason): void;
  /** The beginning of its stderr; for the log, never for a client. */
  stderrText(): string;
}

/** The only place in the program that starts git. */
export interface GitRunner {
  start(command: GitCommand): GitProcess;
  /**
   * Runs a short command to its end and returns its output. Throws `internal` if it exceeds its time or
   * `maxOutputBytes`, `disk_full` if git reports it, and the signal's reason; the caller checks the exit code.
   * @param input bytes for git's stdin; a git that exits before it has read all of them is judged by its exit code
   */
  run(
    command: GitCommand,
    maxOutputBytes: number,
    input?: string | Buffer,
  ): Promise<{ code: number | null; output: Buffer; errorText: string }>;
  /** Number of live processes. */
  running(): number;
  /** Starts nothing more, waits up to `graceMs` for running processes, then kills them. */
  close(graceMs: number): Promise<void>;
}

/** A busy event loop runs timers before it learns of an exited child: a late process may have finished already. */
const lateNewsMs = 200;
const insistAfterMs = 3_000;
const memoryEveryMs = 100;
/** Time limit for reading the output of a killed process. */
const outputGraceMs = 500;
const validProtocol = /^version=[012]$/;

/**
 * @param program absolute path of git
 * @param settings environment and working directory of every child
 * @param launchApart starts a child in the spawner, or returns null if that is not possible now
 */
export function createGitRunner(
  program: string,
  settings: GitSettings,
  logger: Logger,
  launchInSpawner: (launch: Launch) => Child | null = () => null,
): GitRunner {
  const alive = new Map<GitProcess, Promise<GitExit>>();
  let closed = false;

  function start(command: GitCommand): GitProcess {
    if (closed) throw unavailable('stopping', 'The server is shutting down.', { retryAfterSeconds: 5 });
    const launch = launchOf(program, command, settings);
    // A caller that reads stderr line by line waits for a network, so a slower fork does not matter here.
    const launched =
      (command.onStderr === undefined ? launchInSpawner(launch) : null) ?? launchDirectly(launch, command.onStderr);
    if (launched === null) {
      logger.error('git.start_failed', { argv: command.argv });
      throw unavailable('git_busy', 'git could not be started. Try again in a moment.', { retryAfterSeconds: 5 });
    }
    const child = govern(launched, command, logger);
    const charge = command.isShared ? null : currentCharge();
    if (charge !== null) {
      const startedAt = performance.now();
      void child.exited.then(() => charge(launched.usedMs ?? performance.now() - startedAt));
    }
    alive.set(
      child,
      child.exited.finally(() => alive.delete(child)),
    );
    return child;
  }

  async function run(command: GitCommand, maxOutputBytes: number, input?: string | Buffer) {
    const child = start(input === undefined ? command : { ...command, takesInput: true });
    child.stdin?.on('error', () => {}).end(input);
    const chunks: Buffer[] = [];
    let bytes = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxOutputBytes) child.stop('output_limit');
      else chunks.push(chunk);
    });
    const { code, stoppedBy } = await child.exited;
    if (stoppedBy === 'shutdown')
      throw unavailable('stopping', 'The server is shutting down.', { retryAfterSeconds: 5 });
    command.signal?.throwIfAborted();
    if (stoppedBy !== null) {
      throw internal('git did not answer within its limits', { cause: { argv: command.argv, stoppedBy } });
    }
    const output = Buffer.concat(chunks);
    chunks.forEach(freeMemory);
    const errorText = child.stderrText();
    if (code !== 0 && saysDiskFull(errorText)) throw diskFull({ argv: command.argv, errorText });
    return { code, output, errorText };
  }

  async function close(graceMs: number): Promise<void> {
    closed = true;
    const all = Promise.all(alive.values());
    const timer = setTimeout(() => {
      for (const child of alive.keys()) child.stop('shutdown');
    }, graceMs);
    await all;
    clearTimeout(timer);
  }

  return { start, run, close, running: () => alive.size };
}

function launchOf(program: string, command: GitCommand, { environment, home }: GitSettings): Launch {
  const { argv, protocol, allocationLimitBytes, takesInput = false, output, yields = false } = command;
  return {
    program,
    argv,
    home,
    takesInput,
    output,
    yields,
    environment: {
      ...environment,
      ...(typeof protocol === 'string' && validProtocol.test(protocol) ? { GIT_PROTOCOL: protocol } : {}),
      ...(allocationLimitBytes === undefined ? {} : { GIT_ALLOC_LIMIT: String(allocationLimitBytes) }),
      ...command.environment,
    },
  };
}

/** Enforces a child's limits until it exits. */
function govern(child: Child, { argv, signal, timeLimitMs, memoryLimitBytes }: GitCommand, logger: Logger): GitProcess {
  const { stdin, stdout } = child;
  let stoppedBy: StopReason | null = null;
  let insist: NodeJS.Timeout | undefined;
  function stop(reason: StopReason): void {
    if (stoppedBy !== null) return;
    stoppedBy = reason;
    // git removes its locks and temporary objects on SIGTERM, but cannot on SIGKILL. The leader gets the signal first:
    // if its helpers cleaned up at the same time, each would fail on files already removed by the other, and leave the
    // rest.
    const { hasExited } = child;
    child.signal('SIGTERM', hasExited);
    insist = setTimeout(() => child.signal('SIGKILL', true), insistAfterMs);
    if (hasExited) stdout?.destroy();
  }
  child.onExit(() => {
    if (stoppedBy === null) return;
    child.signal('SIGTERM', true);
    // Otherwise a reader that waits for a disconnected client would keep the pipe open for ever.
    setTimeout(() => stdout?.destroy(), outputGraceMs);
  });

  const onAbort = () => stop('aborted');
  let limit = setTimeout(() => {
    limit = setTimeout(() => stop('time_limit'), Math.min(lateNewsMs, timeLimitMs));
  }, timeLimitMs);
  const endWatch =
    memoryLimitBytes === undefined
      ? () => {}
      : watchMemory(
          () => child.pid,
          memoryEveryMs,
          memoryLimitBytes,
          () => stop('memory_limit'),
        );
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();

  const exited = new Promise<GitExit>((resolve) => {
    child.onClose((code) => {
      clearTimeout(limit);
      clearTimeout(insist);
      endWatch();
      signal?.removeEventListener('abort', onAbort);
      if (stoppedBy !== null && stoppedBy !== 'aborted') logger.warn('git.stopped', { argv, reason: stoppedBy });
      resolve({ code, stoppedBy });
    });
  });
  return {
    get pid() {
      return child.pid;
    },
    stdin,
    stdout,
    exited,
    stop,
    stderrText: () => child.stderrText(),
  };
}
