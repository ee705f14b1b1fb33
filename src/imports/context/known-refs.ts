import type { Tx } from '../../db/index.ts';
import { itemSchema } from '../schema/import-schema.ts';
import type { RunContext } from './run-context.ts';

/** Items of the refs of the code and of the wiki. */
type RefItems = 'ref:' | 'wiki:';

/** The source's refs at the last complete transfer, by name. */
export async function knownRefs({ deps, row }: RunContext, prefix: RefItems): Promise<Map<string, string>> {
  const known = await deps.db.read
    .createQueryBuilder(itemSchema, 'i')
    .where('i.import_id = :id AND i.item >= :from AND i.item < :upTo', {
      id: row.id,
      from: prefix,
      upTo: `${prefix.slice(0, -1)};`,
    })
    .getMany();
  return new Map(known.map(({ item, fingerprint }) => [item.slice(prefix.length), fingerprint]));
}

/** Stores the source's refs. @param changed those that differ from `knownRefs` */
export async function noteRefs(
  { manager }: Tx,
  { row }: RunContext,
  prefix: RefItems,
  { gone, changed }: { gone: readonly string[]; changed: readonly (readonly [ref: string, oid: string])[] },
): Promise<void> {
  for (const ref of gone) await manager.delete(itemSchema, { importId: row.id, item: prefix + ref });
  for (let at = 0; at < changed.length; at += 500)
    await manager.upsert(
      itemSchema,
      changed.slice(at, at + 500).map(([ref, fingerprint]) => ({ importId: row.id, item: prefix + ref, fingerprint })),
      ['importId', 'item'],
    );
}

/** The differences between two lists of refs. */
export const compareRefs = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) => ({
  gone: [...before.keys()].filter((ref) => !after.has(ref)),
  changed: [...after].filter(([ref, oid]) => before.get(ref) !== oid),
});
