import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { createExitedTally } from './cpu-time-account.ts';

/** Parameters of a git process whose limits were decided by the caller. */
export interface Launch {
  program: string;
  argv: readonly string[];
  /** The whole environment; nothing is inherited. */
  environment: Readonly<Record<string, string>>;
  /** Its working directory. */
  home: string;
  takesInput: boolean;
  /**
   * Receives the output instead of `stdout`: a socket, which is closed here as soon as the child has it, or an open
   * file.
   */
  output: Socket | number | undefined;
  /** Starts at background CPU priority, behind pages. */
  yields: boolean;
}

/** One git process, leader of its own process group, wherever it was started. */
export interface Child {
  /** 0 until it is known, and if the process could not be started. */
  readonly pid: number;
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  /** Whether the leader has exited; its descendants may still run. */
  readonly hasExited: boolean;
  /**
   * CPU time of the process and its descendants in milliseconds after its exit; null if the system does not report it.
   */
  readonly usedMs: number | null;
  /** Signals the leader, or with `group` the whole process group, after it has been started. */
  signal(name: NodeJS.Signals, group: boolean): void;
  onExit(callback: () => void): void;
  /** Called after the leader has exited and all its output pipes are closed. The code is null if a signal ended it. */
  onClose(callback: (code: number | null) => void): void;
  /** The beginning of its stderr. */
  stderrText(): string;
}

const maxStderrBytes = 4_096;
const takeUsed = createExitedTally();

/**
 * Starts a child by fork from this process, which blocks meanwhile: the system copies the page tables of all its
 * memory. Returns null if it cannot be started.
 * @param onStderr called with its stderr as it arrives
 */
export function launchDirectly(
  { program, argv, environment, home, takesInput, output, yields }: Launch,
  onStderr?: (text: string) => void,
): Child | null {
  // `detached` makes it the leader of its own process group, so that one signal also reaches its helpers (pack-objects,
  // index-pack).
  const child = spawn(program, argv, {
    cwd: home,
    env: environment,
    detached: true,
    stdio: [takesInput ? 'pipe' : 'ignore', output ?? 'pipe', 'pipe'],
  });
  if (typeof output === 'object') output.destroy();
  const { stdin, stdout, stderr, pid = 0 } = child;
  const errorText = collectStderr(stderr, onStderr);
  // A process that exits early closes its input during a write; its exit code shows the reason.
  stdin?.on('error', () => {});
  stdout?.on('error', () => {});
  // Emitted if it could not be started; then there is no process id either.
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
    stderrText: errorText,
  };
}

/** Reads stderr to its end and keeps its beginning. @param onStderr called with all of it */
export function collectStderr(stderr: Readable | null, onStderr?: (text: string) => void): () => string {
  let errorText = '';
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    onStderr?.(text);
    if (errorText.length < maxStderrBytes) errorText += text.slice(0, maxStderrBytes - errorText.length);
  });
  return () => errorText;
}

/** @param target a process id, or minus the id of a process group; 0 is ignored */
export function sendSignal(target: number, name: NodeJS.Signals): void {
  // For the kernel 0 means the caller's own process group.
  if (target === 0) return;
  try {
    process.kill(target, name);
  } catch {
    // The process has exited.
  }
}

export function lowerPriority(pid: number): void {
  try {
    setPriority(pid, 5);
  } catch {
    // It has exited already.
  }
}
