import { parse } from 'yaml';

/**
 * A task of the worker pool: parses items of a list to plain values; null for an invalid one. Refuses aliases: no
 * writer of such files creates them, and a few could reference millions of values.
 */
export const run = (texts: readonly string[]): unknown[] => texts.map(readOne);

function readOne(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 0, logLevel: 'error', uniqueKeys: false }) as unknown;
  } catch {
    return null;
  }
}
