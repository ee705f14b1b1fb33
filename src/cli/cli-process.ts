/** The part of a writable stream that the command line uses. */
export interface CliOutput {
  write(text: string | Uint8Array, done?: (error?: Error | null) => void): boolean;
  on(event: 'error', listener: (error: Error) => void): unknown;
  readonly isTTY?: boolean;
  /** Width of the terminal. */
  readonly columns?: number;
}

/** The input of the command line; a terminal can hide what is typed. */
export interface CliInput extends AsyncIterable<Buffer | string> {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
  on(event: 'data', listener: (bytes: Buffer) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  off(event: 'data', listener: (bytes: Buffer) => void): unknown;
  off(event: 'end', listener: () => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

export type CliSignal = 'SIGINT' | 'SIGTERM';

/**
 * The part of Node's `process` that the command line uses. It is passed in, so that tests run any command with their
 * own streams and environment.
 */
export interface CliProcess {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  /** The name in process lists. */
  title?: string;
  readonly stdin: CliInput;
  readonly stdout: CliOutput;
  readonly stderr: CliOutput;
  cwd(): string;
  umask(mask: number): unknown;
  exit(code: number): unknown;
  on(signal: CliSignal | 'SIGHUP', listener: () => void): unknown;
  on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown;
  getuid?(): number;
  setgroups?(groups: number[]): unknown;
  setgid?(id: number): unknown;
  setuid?(id: number): unknown;
}
