import { invalid } from '../../kernel/index.ts';
import { cleanText, webUrl } from '../documents/json-fields.ts';
import type { Block } from '../schema/block-schema.ts';

/** A blocked server or actor and the reason; `createdAt` comes with the row. */
export type NewBlock = Omit<Block, 'createdAt'>;

const maxReason = 500;

/** Parses a host name (a leading `*.` is ignored) or the URL of an actor. Throws `invalid_block`. */
export function parseBlock(text: string, reason: string): NewBlock {
  const value = text.trim();
  const words = cleanText(reason.replaceAll('\n', ' '), maxReason);
  const actor = webUrl(value);
  if (actor !== null && (actor.pathname !== '/' || actor.search !== ''))
    return { kind: 'actor', value: actor.href, reason: words };
  const name = value
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/\/$/, '')
    .replace(/^\*?\./, '');
  const url = URL.parse(`https://${name}`);
  const isHost = url !== null && url.hostname !== '' && url.href === `https://${url.host}/` && url.port === '';
  if (!isHost || name.length > 253 || !/^[a-z0-9.[\]:-]+$/.test(url.hostname)) {
    throw invalid(
      'invalid_block',
      'Enter the name of a server, such as spam.example.org, or the address of an actor.',
      {
        field: 'value',
      },
    );
  }
  return { kind: 'host', value: url.hostname.replace(/\.$/, ''), reason: words };
}

/** Limit of lines of an imported list. */
const mostImported = 50_000;

export interface ReadBlocks {
  blocks: NewBlock[];
  /** Skipped lines: too mild for a block here, or invalid. */
  skipped: { line: number; text: string; why: 'severity' | 'unreadable' }[];
}

/**
 * Parses a list: one server or actor per line with an optional reason after a comma, or the CSV that Mastodon and
 * related software export, of which only domains with the severity `suspend` are taken. Throws `block_list_too_long`.
 */
export function parseBlocks(text: string): ReadBlocks {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  if (lines.length > mostImported)
    throw invalid('block_list_too_long', `A block list can have at most ${mostImported} lines.`, { field: 'list' });
  let titles: string[] | null = null;
  const read: ReadBlocks = { blocks: [], skipped: [] };
  for (const [index, text] of lines.entries()) {
    const fields = parseCsvLine(text);
    const [first = ''] = fields;
    if (first === '') continue;
    if (/^#?domain$/i.test(first)) {
      titles = fields.map((title) => title.toLowerCase().replace(/^#/, ''));
      continue;
    }
    if (first.startsWith('#')) continue;
    const named = (name: string): string => (titles === null ? '' : (fields[titles.indexOf(name)] ?? ''));
    const severity = named('severity').toLowerCase();
    if (severity !== '' && severity !== 'suspend') {
      read.skipped.push({ line: index + 1, text: first, why: 'severity' });
      continue;
    }
    const reason = titles === null ? fields.slice(1).join(', ') : named('public_comment');
    try {
      read.blocks.push(parseBlock(first, reason));
    } catch {
      read.skipped.push({ line: index + 1, text: first.slice(0, 100), why: 'unreadable' });
    }
  }
  return read;
}

/** The fields of one line of CSV (RFC 4180); a quoted field cannot span lines. */
function parseCsvLine(line: string): string[] {
  const fields: string[] = [];
  const field = /\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*(,|$)/y;
  for (let at = 0; at <= line.length; at = field.lastIndex) {
    field.lastIndex = at;
    const [, quoted, plain = '', end] = field.exec(line) ?? [];
    if (end === undefined) return [line.trim()];
    fields.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
    if (end === '') break;
  }
  return fields;
}

const csvField = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A list in the format of `parseBlocks`; Mastodon and related software import the list of servers. */
export function formatBlocks(blocks: readonly NewBlock[]): string {
  const rows = blocks.map(({ value, reason }) => [value, 'suspend', reason].map(csvField).join(','));
  return ['#domain,#severity,#public_comment', ...rows, ''].join('\n');
}
