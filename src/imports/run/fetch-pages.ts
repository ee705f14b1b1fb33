import { In, Like } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { itemSchema, stagedSchema } from '../schema/import-schema.ts';
import type { StagedRow } from '../schema/import-schema.ts';
import { importLimits } from '../limits.ts';
import { fingerprintsOf } from '../context/fingerprints.ts';
import type { RunContext } from '../context/run-context.ts';

/** Rows of a list, with the numbers of their issues and their keys. */
type Listed = { number: number } & ({ id: string } | object);

/**
 * Fetches a list page by page and stages it: an issue is written once it is complete, in chronological order. Staged
 * rows and the next page's cursor are one write, so that a kill loses at most a page.
 */
export async function fetchPages(context: RunContext, kind: 'issues' | 'pulls' | 'comments'): Promise<void> {
  const { source, row } = context;
  const since = row.isFull ? null : row.since;
  const staged = kind === 'issues' ? 'issue' : kind === 'pulls' ? 'pull' : 'comment';
  if (row.isFull) context.renew(kind);
  const seen = new Set<string>();
  let begunAgain = 0;
  for (;;) {
    const { cursor, found } = context.progress;
    if (cursor !== null && seen.has(cursor)) {
      context.progress.isPartial = true;
      context.tell(kind, 'a page of the list leads back to an earlier one; the list ends there');
      return;
    }
    if (cursor !== null) seen.add(cursor);
    if (seen.size > importLimits.pages) {
      context.progress.isPartial = true;
      context.tell(kind, `only the first ${importLimits.pages} pages were read`);
      return;
    }
    const etagItem = `etag:${kind}:${since}`;
    // Only if everything in the list is already here.
    const etag =
      since === null || cursor !== null ? null : ((await fingerprintsOf(context, [etagItem])).get(etagItem) ?? null);
    const { rows, next, etag: newEtag = null, isPartial, isBegunAgain } = await source[kind]({ since, cursor, etag });
    if (isBegunAgain && (begunAgain += 1) <= mostBeginnings) seen.clear();
    if (isPartial) context.progress.isPartial = true;
    const far = (rows as Listed[]).filter(({ number }) => number > importLimits.highestNumber);
    for (const { number } of far.slice(0, mostNamed))
      context.tell(`#${number}`, `did not come: numbers go up to ${importLimits.highestNumber} here`);
    const wanted: StagedRow[] = (rows as Listed[]).flatMap((each) =>
      each.number > importLimits.highestNumber
        ? []
        : [{ importId: row.id, number: each.number, kind: staged, item: itemOf(each), data: JSON.stringify(each) }],
    );
    const total = found[kind] + wanted.length;
    await context.save({ progress: { cursor: next, found: { ...found, [kind]: total } } }, async ({ manager }) => {
      if (since !== null && newEtag !== null && newEtag !== etag) {
        await manager.delete(itemSchema, { importId: row.id, item: Like(`etag:${kind}:%`) });
        await manager.insert(itemSchema, { importId: row.id, item: etagItem, fingerprint: newEtag });
      }
      // If a page repeats a row, the later one counts.
      const byItem = new Map(wanted.map((each) => [keyOf(each), each]));
      const before = new Map((await findStaged(manager, wanted)).map((each) => [keyOf(each), each]));
      for (const [key, { data, number }] of byItem) {
        const known = before.get(key) ?? wanted.find((each) => keyOf(each) === key)!;
        if (known.data !== data && staged === 'issue' && isOtherIssue(known.data, data))
          context.tell(`#${number}`, 'came twice with different content; the later one counts');
      }
      const changed = [...byItem].flatMap(([key, each]) => (before.get(key)?.data === each.data ? [] : each));
      if (changed.length > 0) await manager.upsert(stagedSchema, changed, ['importId', 'number', 'kind', 'item']);
    });
    if (next === null) return;
  }
}

/** How often a list with a dead cursor is read from its beginning. */
const mostBeginnings = 3;
/** Limit of named rows per page. */
const mostNamed = 20;

const keyOf = ({ number, item }: Pick<StagedRow, 'number' | 'item'>): string => `${number} ${item}`;

/** The already staged rows of these issues. */
async function findStaged(manager: Tx['manager'], rows: readonly StagedRow[]): Promise<StagedRow[]> {
  const [first] = rows;
  if (first === undefined) return [];
  const { importId, kind } = first;
  const number = In([...new Set(rows.map((row) => row.number))]);
  return manager.findBy(stagedSchema, { importId, number, kind, item: In([...new Set(rows.map(({ item }) => item))]) });
}

const itemOf = (row: Listed): string => ('id' in row ? row.id : '');

/** A row that was edited between two pages has the same creation time. */
function isOtherIssue(one: string, other: string): boolean {
  const created = (text: string): unknown => (JSON.parse(text) as { createdAt?: unknown }).createdAt;
  return created(one) !== created(other);
}
