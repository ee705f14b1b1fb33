import { closeSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import { invalid } from '../../kernel/index.ts';
import type { Cli } from '../cli.ts';
import { withHint } from '../report-error.ts';

const chunkBytes = 64 * 1024;

interface Reading {
  /** Name in messages: `The password file`. */
  what: string;
  /** Reason of the refusal if the file cannot be read. */
  reason: string;
  maxBytes: number;
  /** Refusal of a longer file; by default one with `reason`. */
  tooLong?: () => Error;
}

/**
 * The bytes of a file named on the command line. It may be a pipe or a device, so its size is unknown before it has
 * been read. Throws `reason` and `tooLong`.
 */
export function readGivenFile(cli: Cli, file: string, { what, reason, maxBytes, tooLong }: Reading): Buffer {
  const parts: Buffer[] = [];
  let opened: number | null = null;
  let bytes = 0;
  try {
    opened = openSync(path.resolve(cli.process.cwd(), file), 'r');
    for (;;) {
      const part = Buffer.allocUnsafe(chunkBytes);
      const read = readSync(opened, part);
      if (read === 0) return Buffer.concat(parts);
      bytes += read;
      if (bytes > maxBytes) break;
      parts.push(part.subarray(0, read));
    }
  } catch (cause) {
    throw unreadable(`${what} ${file}`, reason, cause);
  } finally {
    if (opened !== null) closeSync(opened);
  }
  throw tooLong?.() ?? invalid(reason, `${what} ${file} is longer than ${maxBytes / 1024} KiB.`);
}

function unreadable(what: string, reason: string, cause: unknown): Error {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason';
  const error = invalid(reason, `${what} cannot be read: ${whyOf(code)}.`, { cause });
  // With sudo a command drops its rights before it reads, so that root's own files are not readable either.
  return code === 'EACCES' || code === 'EPERM'
    ? withHint(error, 'commands run as the owner of the data: use standard input for files which only you can read')
    : error;
}

function whyOf(code: string): string {
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENXIO') return 'no such file';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  return code === 'EISDIR' ? 'it is a folder' : code;
}
