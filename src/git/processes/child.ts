import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { createExitedTally } from './cpu-time-account.ts';

/** How a git process is to be started; what it may do is decided before. */
export interface Launch {
  program: string;
  argv: readonly string[];
  /** The whole environment; nothing is inherited. */
  environment: Readonly<Record<string, string>>;
  /** Its working directory. */
  home: string;
  takesInput: boolean;
  /** Takes the output in place of `stdout`: a socket, which is closed here as soon as the child has it, or an open file. */
  output: Socket | number | undefined;
  /** Steps behind pages in the queue for the processor. */
  yields: boolean;
}

/** One git process, leader of a group of its own, wherever it was started. */
export interface Child {
  /** 0 until it is known, and when it could not be started. */
  readonly pid: number;
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  /** Whether the leader is gone; what it has started may go on. */
  readonly hasExited: boolean;
  /** Processor time of it and its helpers, in milliseconds, once it is gone; null where the system does not say. */
  readonly usedMs: number | null;
  /** Reaches the leader, or with `group` all that it has started, too; waits until it has been started. */
  signal(name: NodeJS.Signals, group: boolean): void;
  onExit(callback: () => void): void;
  /** The leader and everything that held its outputs are gone. The code is null when a signal ended it. */
  onClose(callback: (code: number | null) => void): void;
  /** The beginning of what it wrote to its error output. */
  stderrText(): string;
}

const keptStderrBytes = 4_096;
const takeUsed = createExitedTally();

/**
 * Starts a child from this process, which stands still for it: the system copies the tables
 * of all its memory. Answers null when it cannot be started.
 * @param said hears its error output as it comes
 */
export function launchHere(
  { program, argv, environment, home, takesInput, output, yields }: Launch,
  said?: (text: string) => void,
): Child | null {
  // `detached` makes it the leader of its own group, so that one signal reaches
  // its helpers (pack-objects, index-pack) too.
  const child = spawn(program, argv, {
    cwd: home,
    env: environment,
    detached: true,
    stdio: [takesInput ? 'pipe' : 'ignore', output ?? 'pipe', 'pipe'],
  });
  if (typeof output === 'object') output.destroy();
  const { stdin, stdout, stderr, pid = 0 } = child;
  const complaint = collectStderr(stderr, said);
  // A process that ends early closes its input while we still write; its exit says why.
  stdin?.on('error', () => {});
  stdout?.on('error', () => {});
  // Comes when it could not be started; then there is no number either.
  child.on('error', () => {});
  if (pid === 0) return null;
  if (yields) lowerPriority(pid);
  let usedMs: number | null = null;
  child.once('exit', () => (usedMs = takeUsed()));
  return {
    pid,
    stdin,
    stdout,
    get hasExited() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    get usedMs() {
      return usedMs;
    },
    signal: (name, group) => sendSignal(group ? -pid : pid, name),
    onExit: (callback) => void child.once('exit', callback),
    // `close`, not `exit`: helpers that outlive the leader still hold the pipes.
    onClose: (callback) => void child.once('close', callback),
    stderrText: complaint,
  };
}

/** Reads an error output to its end and keeps its beginning. @param said hears all of it */
export function collectStderr(stderr: Readable | null, said?: (text: string) => void): () => string {
  let complaint = '';
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    said?.(text);
    if (complaint.length < keptStderrBytes) complaint += text.slice(0, keptStderrBytes - complaint.length);
  });
  return () => complaint;
}

/** @param target a process, or minus the leader of a group; 0 reaches nobody */
export function sendSignal(target: number, name: NodeJS.Signals): void {
  // To the system a zero means our own group.
  if (target === 0) return;
  try {
    process.kill(target, name);
  } catch {
    // It ended by itself.
  }
}

export function lowerPriority(pid: number): void {
  try {
    setPriority(pid, 5);
  } catch {
    // It is gone already.
  }
}
