import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { internal, unavailable } from '../kernel/index.ts';
import type { Logger } from '../kernel/index.ts';
import type { GitSettings } from './settings.ts';

/** Why a process was ended before it was done. */
export type StopReason = 'aborted' | 'time_limit' | 'effort_limit' | 'output_limit' | 'stalled' | 'input_failed' | 'shutdown';

export interface GitCommand {
  /** Arguments after `git`. Never user text in option position. */
  argv: readonly string[];
  timeLimitMs: number;
  /** Whether the process reads from us; else its input is empty. */
  takesInput?: boolean;
  /** Takes the output in place of `stdout`, as a socket or an open file; the caller closes its own copy afterwards. */
  output?: Socket | number | undefined;
  /** The client's `Git-Protocol`; anything but `version=0`, `1` or `2` is left out. */
  protocol?: string | null | undefined;
  /** Ends the process group when the client is gone. */
  signal?: AbortSignal | undefined;
  /** Most memory that it may take in one piece, in bytes; beyond it git gives up. */
  allocationLimitBytes?: number;
  /** Steps behind pages in the queue for the processor. */
  yields?: boolean;
}

export interface GitExit {
  /** Null when a signal ended it. */
  code: number | null;
  stoppedBy: StopReason | null;
}

export interface GitProcess {
  /** Leader of its process group. */
  pid: number;
  /** Null unless the command takes input. */
  stdin: Writable | null;
  /** Null when the output goes elsewhere. */
  stdout: Readable | null;
  /** Resolves when the process and everything that held its output are gone. Never rejects. */
  exited: Promise<GitExit>;
  /** Asks the whole process group to end; insists three seconds later. */
  stop(reason: StopReason): void;
  /** The beginning of what it wrote to its error output; for the log, never for a client. */
  complaint(): string;
}

/** The one door through which this program starts git. */
export interface GitDoor {
  start(command: GitCommand): GitProcess;
  /**
   * Runs a short command to its end and answers its output.
   * Refuses with `internal` when it exceeds its time or `maxOutputBytes`, and with the
   * signal's reason; the exit code is the caller's to judge.
   */
  run(command: GitCommand, maxOutputBytes: number): Promise<{ code: number | null; output: Buffer; complaint: string }>;
  /** Processes alive now. */
  running(): number;
  /** Starts nothing more, waits up to `graceMs` for what runs, then ends it. */
  close(graceMs: number): Promise<void>;
}

const insistAfterMs = 3_000;
/** How long the output of a process that was ended is still read. */
const lastWordsMs = 500;
const keptComplaintBytes = 4_096;
const validProtocol = /^version=[012]$/;

/**
 * @param program absolute path of git
 * @param settings environment and working directory of every child
 */
export function openGitDoor(program: string, settings: GitSettings, logger: Logger): GitDoor {
  const alive = new Map<GitProcess, Promise<GitExit>>();
  let closed = false;

  function start(command: GitCommand): GitProcess {
    if (closed) throw unavailable('stopping', 'The server is stopping.', { retryAfterSeconds: 5 });
    const child = startGroup(program, command, settings, logger);
    alive.set(child, child.exited.finally(() => alive.delete(child)));
    return child;
  }

  async function run(command: GitCommand, maxOutputBytes: number) {
    const child = start(command);
    const chunks: Buffer[] = [];
    let bytes = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxOutputBytes) child.stop('output_limit');
      else chunks.push(chunk);
    });
    const { code, stoppedBy } = await child.exited;
    if (stoppedBy === 'shutdown') throw unavailable('stopping', 'The server is stopping.', { retryAfterSeconds: 5 });
    command.signal?.throwIfAborted();
    if (stoppedBy !== null) {
      throw internal('git did not answer within its limits', { cause: { argv: command.argv, stoppedBy } });
    }
    return { code, output: Buffer.concat(chunks), complaint: child.complaint() };
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

function startGroup(program: string, command: GitCommand, settings: GitSettings, logger: Logger): GitProcess {
  const { argv, protocol, signal, timeLimitMs, allocationLimitBytes } = command;
  const environment = {
    ...settings.environment,
    ...(typeof protocol === 'string' && validProtocol.test(protocol) ? { GIT_PROTOCOL: protocol } : {}),
    ...(allocationLimitBytes === undefined ? {} : { GIT_ALLOC_LIMIT: String(allocationLimitBytes) }),
  };
  // `detached` makes it the leader of its own group, so that one signal reaches
  // its helpers (pack-objects, index-pack) too.
  const child = spawn(program, argv, {
    cwd: settings.home,
    env: environment,
    detached: true,
    stdio: [command.takesInput === true ? 'pipe' : 'ignore', command.output ?? 'pipe', 'pipe'],
  });
  const { stdin, stdout, stderr, pid = 0 } = child;
  if (pid === 0 || stderr === null) {
    child.once('error', (error) => logger.error('git.start_failed', { argv, error }));
    throw unavailable('git_busy', 'git could not be started. Try again in a moment.', { retryAfterSeconds: 5 });
  }
  if (command.yields === true) stepBack(pid);

  let complaint = '';
  stderr.setEncoding('utf8').on('data', (text: string) => {
    if (complaint.length < keptComplaintBytes) complaint += text.slice(0, keptComplaintBytes - complaint.length);
  });
  // A process that ends early closes its input while we still write; its exit says why.
  stdin?.on('error', () => {});
  stdout?.on('error', () => {});
  child.on('error', (error) => logger.warn('git.error', { argv, error }));

  let stoppedBy: StopReason | null = null;
  let insist: NodeJS.Timeout | undefined;
  function stop(reason: StopReason): void {
    if (stoppedBy !== null) return;
    stoppedBy = reason;
    // git removes its locks and temporary objects on SIGTERM, and cannot on SIGKILL. The
    // leader goes first: were its helpers to tidy up at the same time, each would trip
    // over what the other has removed already, and leave the rest.
    const hasExited = child.exitCode !== null || child.signalCode !== null;
    sendSignal(hasExited ? -pid : pid, 'SIGTERM');
    insist = setTimeout(() => sendSignal(-pid, 'SIGKILL'), insistAfterMs);
    if (hasExited) stdout?.destroy();
  }
  child.once('exit', () => {
    if (stoppedBy === null) return;
    sendSignal(-pid, 'SIGTERM');
    // A reader that waits for a client who is gone would keep the pipe, and us, for ever.
    setTimeout(() => stdout?.destroy(), lastWordsMs);
  });

  const onAbort = () => stop('aborted');
  const limit = setTimeout(() => stop('time_limit'), timeLimitMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();

  const exited = new Promise<GitExit>((resolve) => {
    // `close`, not `exit`: helpers that outlive the leader still hold the pipes.
    child.once('close', (code) => {
      clearTimeout(limit);
      clearTimeout(insist);
      signal?.removeEventListener('abort', onAbort);
      if (stoppedBy !== null && stoppedBy !== 'aborted') logger.warn('git.stopped', { argv, reason: stoppedBy });
      resolve({ code, stoppedBy });
    });
  });
  return { pid, stdin, stdout, exited, stop, complaint: () => complaint };
}

/** @param target a process, or minus the leader of a group */
function sendSignal(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch {
    // It ended by itself.
  }
}

function stepBack(pid: number): void {
  try {
    setPriority(pid, 5);
  } catch {
    // It is gone already.
  }
}
