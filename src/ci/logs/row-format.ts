import { cutText } from '../runners/runner-facts.ts';

/** Size limit of a row's content in bytes; a longer one is cut and marked. */
export const maxRowBytes = 64 * 1024;

/** `2026-01-31T10:00:00.0000000Z `: length of the prefix of every stored row, in characters. */
export const prefixLength = 29;

const lastSecond = 253_402_300_799n;

/**
 * One row of the log file: the time with seven fractional digits, the content in one line. Everything else stays as
 * the runner sent it; pages escape it.
 */
export function formatRow(time: { seconds: bigint; nanos: number } | null, content: string): string {
  return `${formatTime(time)} ${fitContent(content)}\n`;
}

let lastFormatted: { seconds: bigint; text: string } = { seconds: -1n, text: '' };

/** Many rows share a second, so its text is cached. */
function formatTime(time: { seconds: bigint; nanos: number } | null): string {
  const given = time?.seconds ?? 0n;
  const seconds = given < 0n ? 0n : given > lastSecond ? lastSecond : given;
  if (seconds !== lastFormatted.seconds) {
    lastFormatted = { seconds, text: new Date(Number(seconds) * 1000).toISOString().slice(0, 19) };
  }
  const ticks = Math.min(9_999_999, Math.max(0, Math.trunc((time?.nanos ?? 0) / 100)));
  return `${lastFormatted.text}.${String(ticks).padStart(7, '0')}Z`;
}

const cutMark = ' [cut: the line is longer than 64 KiB]';

function fitContent(content: string): string {
  const line = /[\r\n]/.test(content)
    ? content
        .replace(/\r?\n$/, '')
        .replaceAll('\r\n', '\\n')
        .replaceAll('\n', '\\n')
        .replaceAll('\r', '\\r')
    : content;
  // A UTF-16 unit takes at most three bytes.
  if (line.length * 3 <= maxRowBytes || Buffer.byteLength(line) <= maxRowBytes) return line;
  return cutText(line, maxRowBytes - cutMark.length) + cutMark;
}

/** A stored row as pages show it. */
export interface StoredRow {
  /** Milliseconds since the epoch. */
  at: number;
  content: string;
}

export function readRow(line: string): StoredRow {
  return { at: Date.parse(`${line.slice(0, 23)}Z`) || 0, content: line.slice(prefixLength) };
}
