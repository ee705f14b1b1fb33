import { In, Like } from 'typeorm';
import { openPeopleBook } from '../context/people-book.ts';
import { fingerprintsOf } from '../context/fingerprints.ts';
import type { RunContext } from '../context/run-context.ts';
import { issueLimits } from '../../issues/index.ts';
import { importLimits } from '../limits.ts';
import { itemSchema } from '../schema/import-schema.ts';
import type { SourceTime } from '../sources/source.ts';

const what = 'tracked times';
/** Rows removed in one write. */
const removedAtOnce = 200;

/**
 * Adds the time that was spent on issues there. What was removed here stays away; what was removed there goes with a
 * run that reads all of them. The list starts again after a kill: each time is written once.
 */
export async function writeTimes(context: RunContext): Promise<void> {
  const { source, row, options, tell } = context;
  if (source.times === undefined || !options.withIssues) return;
  if (row.isFull) context.renew(what);
  const since = row.isFull ? null : row.since;
  const seen = new Set<string>();
  const cursors = new Set<string | null>();
  let cursor: string | null = null;
  for (;;) {
    context.signal.throwIfAborted();
    const { rows, next, isWhole } = await source.times({ since, cursor });
    for (const { id } of rows) seen.add(itemOf(id));
    await writePage(context, rows);
    if (next === null) return row.isFull && isWhole ? removeGone(context, seen) : undefined;
    cursors.add(cursor);
    if (cursors.has(next) || cursors.size > importLimits.pages)
      return tell(what, `only ${seen.size} of them were read: the list does not end`);
    cursor = next;
  }
}

const itemOf = (id: string): string => `time:${id}`;

async function writePage(context: RunContext, rows: readonly SourceTime[]): Promise<void> {
  const { deps, row, located, tell } = context;
  const now = deps.clock.now();
  const done = await fingerprintsOf(
    context,
    rows.map(({ id }) => itemOf(id)),
  );
  const wanted = rows.filter(({ id, number, seconds, person }) => {
    if (done.has(itemOf(id))) return false;
    if (person !== null && seconds <= issueLimits.trackedSeconds && number <= importLimits.highestNumber) return true;
    tell(what, `one of #${number} did not come: it has ${person === null ? 'no person' : 'more than a year'}`);
    return false;
  });
  if (wanted.length === 0) return;
  const people = await openPeopleBook(
    deps,
    row.host,
    wanted.map(({ person }) => person),
  );
  const { written, full } = await deps.issues.followed.writeTimes(
    located.repository,
    wanted.flatMap(({ id, number, person: there, seconds, createdAt }) => {
      const person = people.of(there);
      const origin = originOf(context, itemOf(id));
      return person === null ? [] : { number, seconds, person, createdAt: Math.min(createdAt, now), origin };
    }),
  );
  for (const number of full) tell(what, `of #${number} did not all come: there are too many`);
  const isHere = new Set(written);
  await context.save({}, async ({ manager }) => {
    const items = wanted.map(({ id }) => itemOf(id)).filter((item) => isHere.has(originOf(context, item)));
    for (const item of new Set(items))
      await manager.upsert(itemSchema, { importId: row.id, item, fingerprint: '' }, ['importId', 'item']);
  });
}

const originOf = ({ row }: RunContext, item: string): string => `${row.host} ${item}`;

async function removeGone(context: RunContext, seen: ReadonlySet<string>): Promise<void> {
  const { deps, row, located } = context;
  const known = await deps.db.read.findBy(itemSchema, { importId: row.id, item: Like('time:%') });
  const gone = known.map(({ item }) => item).filter((item) => !seen.has(item));
  for (let at = 0; at < gone.length; at += removedAtOnce) {
    const items = gone.slice(at, at + removedAtOnce);
    await deps.issues.followed.removeTimes(
      located.repository,
      items.map((item) => originOf(context, item)),
    );
    await context.save({}, async ({ manager }) => {
      await manager.delete(itemSchema, { importId: row.id, item: In(items) });
    });
  }
}
