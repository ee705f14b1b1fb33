import { isDamagedDatabase, isDiskFull, isRefusal } from '../kernel/index.ts';
import type { CliOutput } from './cli-process.ts';
import { Interrupted } from './exit-codes.ts';
import { hintOf } from './hints.ts';
import type { Output } from './terminal/output.ts';
import { escapeControls } from './terminal/escape-controls.ts';

/** Reports why the command failed, as text or with --json. No stack trace unless requested. */
export function reportError(error: unknown, output: Output, stderr: CliOutput, { debug }: { debug: boolean }): void {
  if (error instanceof Interrupted) {
    stderr.write('\n');
    return;
  }
  const { code, message, hint } = describeError(error);
  if (output.json) {
    stderr.write(JSON.stringify({ error: { code, message, hint } }) + '\n');
  } else {
    // A refusal of the settings can list several problems, one per line.
    const lines = inErrorLine(message).split('\n').map(escapeControls).join('\n       ');
    stderr.write(`${output.style('red', 'error:', 'stderr')} ${lines}\n`);
    if (hint !== null) stderr.write(`${output.style('cyan', 'hint:', 'stderr')} ${escapeControls(hint)}\n`);
  }
  if (debug) stderr.write(`${stackOf(error)}\n`);
}

interface Description {
  code: string;
  message: string;
  hint: string | null;
}

/** An error with its own hint. */
interface Hinted {
  readonly hint: string;
}

export function withHint<E extends Error>(error: E, hint: string): E & Hinted {
  return Object.assign(error, { hint });
}

/** A stable code, a sentence and, where possible, a remedy for an error. */
export function describeError(error: unknown): Description {
  if (isRefusal(error)) {
    const hint = 'hint' in error ? String(error.hint) : hintOf(error, error.reason);
    return { code: error.reason, message: error.message, hint };
  }
  const fault = systemFault(error) ?? systemFault(error instanceof Error ? error.cause : null);
  if (fault !== null) return fault;
  if (isDiskFull(error))
    return {
      code: 'disk_full',
      message: "The disk is full, or this user's quota is used up. Nothing was changed.",
      hint: 'free disk space: hearth trash empty, hearth backup prune',
    };
  const message = error instanceof Error ? error.message : String(error);
  if (isDamagedDatabase(error))
    return {
      code: 'database_damaged',
      message: `The database is damaged: ${message}.`,
      hint: hintOf(error, 'database_damaged'),
    };
  return {
    code: 'internal',
    message: `internal error: ${message}`,
    hint: 'run the command again with --debug for details',
  };
}

/** Messages for system errors of files, which are not faults of this program. */
const systemWords: Readonly<Record<string, readonly [code: string, words: string, hint: string | null]>> = {
  EACCES: [
    'permission_denied',
    'permission denied',
    'run it as the owner of this path, or with sudo; or specify another path',
  ],
  EPERM: [
    'permission_denied',
    'not permitted',
    'run it as the owner of this path, or with sudo; or specify another path',
  ],
  ENOENT: ['no_such_file', 'no such file or folder', 'run the command again with --debug for details'],
  ENOTDIR: ['no_such_file', 'part of this path is not a folder', null],
  EISDIR: ['is_folder', 'this is a folder', null],
  EROFS: ['read_only_disk', 'this disk is read-only', null],
  ENOSPC: ['disk_full', 'the disk is full', 'free disk space: hearth repo size, hearth trash empty'],
  EDQUOT: ['disk_full', "this user's quota is used up", null],
};

function systemFault(error: unknown): Description | null {
  if (!(error instanceof Error) || !('code' in error) || !('path' in error) || typeof error.path !== 'string')
    return null;
  const [code, words, hint] = systemWords[String(error.code)] ?? [];
  return code === undefined ? null : { code, message: `${error.path}: ${words}`, hint: hint ?? null };
}

/** Messages are sentences; after `error:` they begin in lower case and have no full stop. */
function inErrorLine(message: string): string {
  const text = /[.!?]\s/.test(message) || message.includes('\n') ? message : message.replace(/\.$/, '');
  return /^(A|[A-Z][a-z]+)\b/.test(text) && !text.startsWith('Hearth')
    ? text.charAt(0).toLowerCase() + text.slice(1)
    : text;
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const cause = error.cause === undefined ? '' : `\ncaused by: ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
