import type { ImportDeps } from '../deps.ts';
import { importLimits } from '../limits.ts';
import { itemSchema } from '../schema/import-schema.ts';
import type { NumberedKind, SourceNumbers } from '../sources/source-numbers.ts';

/** Keys of the stored numbers: `number:last-issue`, `number:issue:51`, `number:pull:8`. */
const prefix = 'number:';
const lastIssueItem = `${prefix}last-issue`;

/**
 * Numbers of a source that numbers issues and pull requests separately. In the first run, issues keep their numbers,
 * and the highest of them is added to the number of each pull request. Later items get a free number if that rule gives
 * one that is taken; it is stored before it is used.
 */
export function createApartNumbers(
  deps: Pick<ImportDeps, 'db' | 'issues'>,
  { importId, repositoryId, host }: { importId: string; repositoryId: string; host: string },
): SourceNumbers {
  let loading: Promise<{ lastIssue: number | null; given: Map<string, number>; back: Map<number, string> }> | null =
    null;
  let highest = 0;

  const load = () =>
    (loading ??= (async () => {
      const rows = await deps.db.read
        .createQueryBuilder(itemSchema, 'i')
        .where('i.import_id = :importId AND i.item >= :from AND i.item < :upTo', {
          importId,
          from: prefix,
          upTo: `${prefix.slice(0, -1)};`,
        })
        .getMany();
      const given = new Map<string, number>();
      let lastIssue: number | null = null;
      for (const { item, fingerprint } of rows)
        if (item === lastIssueItem) lastIssue = Number(fingerprint);
        else given.set(item, Number(fingerprint));
      return { lastIssue, given, back: new Map([...given].map(([item, number]) => [number, item])) };
    })());

  const keep = (item: string, number: number): Promise<unknown> =>
    deps.db.write(({ manager }) =>
      manager.upsert(itemSchema, { importId, item, fingerprint: String(number) }, ['importId', 'item']),
    );

  /** Whether a number belongs to an item that did not get it by the rule. */
  async function takenOf(numbers: readonly number[]): Promise<Set<number>> {
    const rows: { number: number; origin: string | null }[] = await deps.db.read.query(
      `SELECT number, origin FROM issues WHERE repository_id = ? AND number IN (${numbers.map(() => '?').join(', ')})`,
      [repositoryId, ...numbers],
    );
    return new Set(rows.flatMap(({ number, origin }) => (origin === `${host}#${number}` ? [] : [Number(number)])));
  }

  return {
    async of(kind, there) {
      const { lastIssue, given, back } = await load();
      const found = new Map<number, number>();
      if (there.length === 0) return found;
      // An issue with a number too far does not come, and must not take all pull requests along.
      if (kind === 'issue') highest = Math.max(highest, ...there.filter((iid) => iid <= importLimits.highestNumber));
      const byRule = (iid: number): number | null =>
        kind === 'pull' ? (lastIssue ?? highest) + iid : lastIssue === null || iid <= lastIssue ? iid : null;
      const taken = await takenOf(there.flatMap((iid) => byRule(iid) ?? []));
      for (const iid of there) {
        const item = `${prefix}${kind}:${iid}`;
        let number = given.get(item) ?? byRule(iid);
        if (!given.has(item) && (number === null || taken.has(number) || back.has(number))) {
          number = await deps.issues.followed.reserveNumber(repositoryId);
          await keep(item, number);
          given.set(item, number);
          back.set(number, item);
        }
        found.set(iid, number!);
      }
      return found;
    },
    async settle() {
      const loaded = await load();
      if (loaded.lastIssue !== null) return;
      // An interrupted run has already read the pages before this one.
      const [row]: { last: number | null }[] = await deps.db.read.query(
        "SELECT max(number) AS last FROM import_staged WHERE import_id = ? AND kind = 'issue'",
        [importId],
      );
      loaded.lastIssue = Math.max(highest, Number(row?.last ?? 0));
      await keep(lastIssueItem, loaded.lastIssue);
    },
    async from(here) {
      const { lastIssue, back } = await load();
      const item = back.get(here);
      if (item !== undefined) {
        const [kind, iid] = item.slice(prefix.length).split(':');
        return { kind: kind as NumberedKind, iid: Number(iid) };
      }
      const offset = lastIssue ?? highest;
      return here > offset ? { kind: 'pull', iid: here - offset } : { kind: 'issue', iid: here };
    },
  };
}
