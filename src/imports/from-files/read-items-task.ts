import { parse } from 'yaml';

/**
 * A task of the worker pool: items of a list as plain values; null for one that cannot be read. Aliases are refused:
 * nothing that writes such files makes them, and few of them could name millions of values.
 */
export const run = (texts: readonly string[]): unknown[] => texts.map(readOne);

function readOne(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 0, logLevel: 'error', uniqueKeys: false }) as unknown;
  } catch {
    return null;
  }
}
