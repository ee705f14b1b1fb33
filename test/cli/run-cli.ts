// runCli(words, {env, input, terminal, answers}) → {code, stdout, stderr}: one command line, in this process.
import { PassThrough, Writable } from 'node:stream';
import { main } from '../../src/cli/index.ts';
import type { CliProcess, CliTools } from '../../src/cli/index.ts';
import type { Clock } from '../../src/kernel/index.ts';
import { watchStatements } from '../fixtures/query-plans.ts';

watchStatements();

export interface RunCliOptions {
  env?: Record<string, string>;
  /** The content of standard input. */
  input?: string;
  /** Whether standard streams are terminals; output then comes as tables. */
  terminal?: boolean;
  /** What the person types, one answer for each question. */
  answers?: readonly string[];
  columns?: number;
  cwd?: string;
  clock?: Clock;
  openModules?: CliTools['openModules'];
}

export interface CliResult {
  code: number;
  stdout: string;
  stderr: string;
  /** Requested terminal modes, in order: hide what is typed, show it again. */
  rawModes: boolean[];
}

class Capture extends Writable {
  text = '';
  readonly isTTY: boolean;
  readonly columns: number;
  onText: (text: string) => void = () => {};

  constructor(isTTY: boolean, columns: number) {
    super();
    this.isTTY = isTTY;
    this.columns = columns;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += String(chunk);
    this.onText(String(chunk));
    done();
  }
}

/** Runs one command line as the program does; without colour unless requested. */
export async function runCli(words: readonly string[], options: RunCliOptions = {}): Promise<CliResult> {
  const {
    env = {},
    input,
    terminal = false,
    answers = [],
    columns = 100,
    cwd = '/nowhere',
    clock,
    openModules,
  } = options;
  const stdout = new Capture(terminal, columns);
  const stderr = new Capture(terminal, columns);
  const rawModes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), { isTTY: terminal, setRawMode: (raw: boolean) => rawModes.push(raw) });
  if (!terminal) stdin.end(input ?? '');
  const left = [...answers];
  stderr.onText = (text) => {
    if (/[:\]] $/.test(text) && left.length > 0) stdin.write(left.shift()!);
  };
  const fake: CliProcess = {
    argv: ['node', 'hearth', ...words, ...(words.some((word) => word.startsWith('--color')) ? [] : ['--color=never'])],
    env: { PATH: process.env['PATH'], ...env },
    pid: 4711,
    stdin,
    stdout,
    stderr,
    cwd: () => cwd,
    umask: () => 0,
    exit: () => undefined,
    on: () => undefined,
  };
  const code = await main(fake, { ...(clock && { clock }), openModules });
  return { code, stdout: stdout.text, stderr: stderr.text, rawModes };
}
