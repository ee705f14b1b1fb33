import { In } from 'typeorm';
import type { ImportDeps } from '../deps.ts';
import { itemSchema } from '../schema/import-schema.ts';
import type { NumberedKind } from '../sources/source-numbers.ts';

/**
 * Numbers here of issues and merge requests of a source that numbers the two separately, by `issue:7` and `pull:7`.
 * Assigns none: numbers that follow the rule are not in the table.
 */
export async function lookUpNumbers(
  { db }: Pick<ImportDeps, 'db'>,
  importId: string,
  wanted: readonly (readonly [kind: NumberedKind, iid: number])[],
): Promise<Map<string, number>> {
  if (wanted.length === 0) return new Map();
  const items = [lastIssueItem, ...wanted.map(([kind, iid]) => `number:${kind}:${iid}`)];
  const rows = await db.read.findBy(itemSchema, { importId, item: In(items) });
  const known = new Map(rows.map(({ item, fingerprint }) => [item, Number(fingerprint)]));
  const lastIssue = known.get(lastIssueItem) ?? 0;
  return new Map(
    wanted.map(([kind, iid]) => [
      `${kind}:${iid}`,
      known.get(`number:${kind}:${iid}`) ?? (kind === 'pull' ? lastIssue + iid : iid),
    ]),
  );
}

const lastIssueItem = 'number:last-issue';
