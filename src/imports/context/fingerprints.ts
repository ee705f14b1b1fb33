import { In } from 'typeorm';
import { itemSchema } from '../schema/import-schema.ts';
import type { RunContext } from './run-context.ts';

/** Fingerprints of some items. */
export async function fingerprintsOf(
  { deps, row }: RunContext,
  items: readonly string[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let at = 0; at < items.length; at += 500)
    for (const { item, fingerprint } of await deps.db.read.findBy(itemSchema, {
      importId: row.id,
      item: In(items.slice(at, at + 500)),
    }))
      found.set(item, fingerprint);
  return found;
}
