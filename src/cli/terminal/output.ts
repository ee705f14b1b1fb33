import { styleText } from 'node:util';
import type { Clock } from '../../kernel/index.ts';
import type { CliOutput } from '../cli-process.ts';
import { escapeControls } from './escape-controls.ts';
import { layOut } from './table.ts';
import type { ColumnLayout } from './table.ts';
import { absoluteTime, relativeTime } from './times.ts';

/** A time in a row: relative in tables, absolute elsewhere. */
interface Moment {
  readonly epochMs: number | null;
  /** The text if there is no time. */
  readonly otherwise: string;
}

/** An id: shortened in tables, complete elsewhere. */
interface Id {
  readonly id: string;
}

/** A size: rounded in tables, the exact number elsewhere. */
interface Size {
  readonly bytes: number;
}

type Cell = string | number | Moment | Id | Size;

export interface Column<Row> extends ColumnLayout {
  readonly title: string;
  readonly cell: (row: Row) => Cell;
}

export interface OutputFlags {
  readonly json: boolean;
  readonly plain: boolean;
  readonly quiet: boolean;
  readonly color: 'auto' | 'always' | 'never';
}

type Style = Parameters<typeof styleText>[0];

/** Prints results: for terminals, as plain text for pipes, or as JSON. */
export interface Output {
  readonly json: boolean;
  /** Rows under headers; tab-separated without them; or one JSON array. */
  list<Row>(
    rows: readonly Row[],
    columns: readonly Column<Row>[],
    counted: readonly [one: string, many: string],
    toJson: (row: Row) => object,
  ): void;
  /** Titled properties of one item, or one JSON object. */
  show(facts: readonly (readonly [title: string, cell: Cell])[], json: object): void;
  /** One line that states what was done, or the whole object. */
  result(line: string, json: object): void;
  /** A secret alone on stdout, so that `TOKEN=$(…)` works; the line about it on stderr. */
  secret(secret: string, line: string, json: object): void;
  /** Plain text, or the equivalent object. */
  print(text: string, json?: object): void;
  /** A message on stderr; not with --quiet or --json. */
  message(text: string): void;
  style(style: Style, text: string, stream?: 'stdout' | 'stderr'): string;
}

export function never(epochMs: number | null): Moment {
  return { epochMs, otherwise: 'never' };
}

/** A time in JSON. */
export function isoOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : absoluteTime(epochMs);
}

export function createOutput(
  { stdout, stderr, clock }: { stdout: CliOutput; stderr: CliOutput; clock: Clock },
  flags: OutputFlags,
): Output {
  const isTable = stdout.isTTY === true && !flags.plain && !flags.json;
  const say = (text: string): void => void stdout.write(text);

  function style(style: Style, text: string, to: 'stdout' | 'stderr' = 'stdout'): string {
    if (flags.color === 'never') return text;
    if (flags.color === 'always') return styleText(style, text, { validateStream: false });
    // Respects the stream, NO_COLOR, FORCE_COLOR and TERM.
    return styleText(style, text, { stream: (to === 'stdout' ? stdout : stderr) as unknown as NodeJS.WriteStream });
  }

  const inTable = (cell: Cell): string => cellText(cell, { now: clock.now() });
  const inPlain = (cell: Cell): string => cellText(cell, 'exact');
  const json = (value: object): void => say(JSON.stringify(value, null, stdout.isTTY ? 2 : 0) + '\n');

  const output: Output = {
    json: flags.json,
    list(rows, columns, called, toJson) {
      if (flags.json) return json(rows.map(toJson));
      const texts = rows.map((row) => columns.map((column) => (isTable ? inTable : inPlain)(column.cell(row))));
      if (!isTable) return say(texts.map((row) => row.join('\t') + '\n').join(''));
      // Only prose is truncated: a partial time, size or id is useless.
      const layout = columns.map(({ align, whole, cell }) => ({
        align,
        whole: whole || rows.some((row) => typeof cell(row) !== 'string'),
      }));
      const [header = '', ...lines] = layOut(
        [columns.map((column) => column.title), ...texts],
        layout,
        stdout.columns || 80,
      );
      const count = counted(rows.length, ...called);
      say([...(rows.length > 0 ? [style('bold', header), ...lines] : []), count].join('\n') + '\n');
    },
    show(facts, object) {
      if (flags.json) return json(object);
      if (!isTable) return say(facts.map(([title, cell]) => `${title}\t${inPlain(cell)}\n`).join(''));
      const width = Math.max(...facts.map(([title]) => title.length));
      say(facts.map(([title, cell]) => `${style('bold', title.padEnd(width))}  ${inTable(cell)}\n`).join(''));
    },
    result(line, object) {
      if (flags.json) json(object);
      else if (!flags.quiet) say(`${line}\n`);
    },
    secret(secret, line, object) {
      if (flags.json) return json(object);
      output.message(line);
      say(`${secret}\n`);
    },
    print(text, object) {
      if (flags.json && object !== undefined) json(object);
      else say(text);
    },
    message(text) {
      if (!flags.quiet && !flags.json) stderr.write(`${text}\n`);
    },
    style,
  };
  return output;
}

function cellText(cell: Cell, how: 'exact' | { now: number }): string {
  if (typeof cell !== 'object') return escapeControls(String(cell));
  if ('id' in cell) return how === 'exact' ? cell.id : cell.id.slice(0, 8);
  if ('bytes' in cell) return how === 'exact' ? String(cell.bytes) : readableSize(cell.bytes);
  if (cell.epochMs === null) return cell.otherwise;
  return how === 'exact' ? absoluteTime(cell.epochMs) : relativeTime(cell.epochMs, how.now);
}

/** `1 repository`, `3 repositories`. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `0 B`, `38 MB`, `1.9 GB`: two digits are enough to compare. */
export function readableSize(bytes: number): string {
  const exponent = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** exponent;
  return `${value < 9.95 && exponent > 0 ? value.toFixed(1) : Math.round(value)} ${['B', 'kB', 'MB', 'GB', 'TB'][exponent]}`;
}
