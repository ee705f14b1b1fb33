import { inspect } from 'node:util';
import { pino } from 'pino';
import type { Logger, LogFields } from '../../kernel/index.ts';
import type { CliOutput } from '../cli-process.ts';
import type { LogTail } from './log-tail.ts';
import { redactFields, redactText } from './redact.ts';

export interface LoggerOptions {
  level: 'debug' | 'info' | 'warn' | 'error';
  /** `auto`: readable text on a terminal, otherwise JSON lines. */
  format: 'auto' | 'json' | 'text';
  /** Also stores the newest lines for `hearth log tail`. */
  tail?: LogTail;
}

/** The limit of a log line's length (security K01). */
const maxLineBytes = 8 * 1024;

/**
 * Writes the log to a stream: one line per event. Secrets are redacted, control characters escaped, and no line is
 * longer than 8 KiB. pino runs without transports, whose worker threads do not work in the executable.
 */
export function createLogger(
  stream: CliOutput,
  { level, format, tail }: LoggerOptions,
): Logger & { setLevel(level: LoggerOptions['level']): void } {
  const isText = format === 'text' || (format === 'auto' && stream.isTTY === true);
  const destination = {
    write(line: string): void {
      const bounded = Buffer.byteLength(line) > maxLineBytes ? shorten(line) : line;
      stream.write(isText ? readableLine(bounded) : bounded);
      tail?.add(bounded);
    },
  };
  const root = pino(
    {
      level,
      base: null,
      messageKey: 'event',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      // Redacts at every depth; pino's redaction needs paths known in advance.
      serializers: {},
    },
    destination,
  );
  return { ...wrap(root, {}), setLevel: (to) => void (root.level = to) };
}

type Pino = Pick<ReturnType<typeof pino>, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

function wrap(root: Pino, bound: LogFields): Logger {
  const log =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (event: string, fields: LogFields = {}): void => {
      if (root.isLevelEnabled(level)) root[level](redactFields({ ...bound, ...fields }), redactText(event));
    };
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    child: (fields) => wrap(root, { ...bound, ...fields }),
  };
}

/** Keeps the identifying fields, and the others as text up to the limit. */
function shorten(line: string): string {
  const { level, time, event, requestId, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const short = (bytes: number): string =>
    JSON.stringify({
      level,
      time,
      requestId,
      cut: Buffer.from(JSON.stringify(rest)).subarray(0, bytes).toString('utf8'),
      event,
    }) + '\n';
  // Escaped characters take more bytes; halving finds a length that fits.
  for (let bytes = 6_000; bytes > 0; bytes = Math.floor(bytes / 2)) {
    const candidate = short(bytes);
    if (Buffer.byteLength(candidate) <= maxLineBytes) return candidate;
  }
  return JSON.stringify({ level, time, event: String(event).slice(0, 200) }) + '\n';
}

/** `09:31:02 info  push.settled  repository=alice/garden ms=12`, for terminals. */
export function readableLine(line: string): string {
  const { level, time, event, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const facts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${shownValue(value)}`);
  return `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${[String(event), ...facts].join('  ')}\n`;
}

function shownValue(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return value;
  return inspect(value, { breakLength: Infinity, depth: 8, compact: true });
}
