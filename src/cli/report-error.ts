import { isDomainError } from '../kernel/index.ts';
import type { CliOutput } from './cli-process.ts';
import { Interrupted } from './exit-codes.ts';
import { hintFor } from './hints.ts';
import type { Output } from './output.ts';
import { escapeActing } from './plain-characters.ts';

/** Tells a person, or with --json a program, why the command failed. No stack trace unless asked for. */
export function reportError(error: unknown, output: Output, stderr: CliOutput, { debug }: { debug: boolean }): void {
  if (error instanceof Interrupted) {
    stderr.write('\n');
    return;
  }
  const { code, message, hint } = describe(error);
  if (output.json) {
    stderr.write(JSON.stringify({ error: { code, message, hint } }) + '\n');
  } else {
    // A refusal of the settings can list several problems, one a line.
    const lines = inErrorLine(message).split('\n').map(escapeActing).join('\n       ');
    stderr.write(`${output.style('red', 'error:', 'stderr')} ${lines}\n`);
    if (hint !== null) stderr.write(`${output.style('cyan', 'hint:', 'stderr')} ${escapeActing(hint)}\n`);
  }
  if (debug) stderr.write(`${stackOf(error)}\n`);
}

interface Description {
  code: string;
  message: string;
  hint: string | null;
}

/** An error that brings its own hint, made where the cure is known. */
export interface Hinted {
  readonly hint: string;
}

export function withHint<E extends Error>(error: E, hint: string): E & Hinted {
  return Object.assign(error, { hint });
}

function describe(error: unknown): Description {
  if (isDomainError(error) && error.code !== 'internal') {
    const hint = 'hint' in error ? String(error.hint) : hintFor(error.reason);
    return { code: error.reason, message: error.message, hint };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'internal', message: `internal error: ${message}`, hint: 'run it again with --debug to see where it happened' };
}

/** Pages want sentences; after `error:` the same words go on in lower case and without a full stop. */
function inErrorLine(message: string): string {
  const text = /[.!?]\s/.test(message) || message.includes('\n') ? message : message.replace(/\.$/, '');
  return /^(A|[A-Z][a-z]+)\b/.test(text) && !text.startsWith('Hearth') ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const cause = error.cause === undefined ? '' : `\ncaused by: ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
