import { inList, rows } from '../db/index.ts';
import type { StoreDeps } from './deps.ts';
import { listJournal } from './journal.ts';

/** Longer than a push may take between its upload and its row. */
const unnamedForMs = 24 * 60 * 60_000;
/** For packs whose repository neither a row nor the journal knows. */
const unknownForMs = 7 * 24 * 60 * 60_000;
/** Retention time of the journal of a repository that has left the store. */
const endedForMs = 30 * 24 * 60 * 60_000;
const askedAtOnce = 500;

/** Result of a sweep; `older` are repositories whose rows are older than their journal. */
interface Sweep {
  removed: number;
  bytes: number;
  older: string[];
}

interface JournalState {
  generation: number;
  isEnded: boolean;
  at: number;
}

/**
 * Removes packs without a row from the store: of failed pushes, and of deleted repositories. If the rows are older than
 * the store, nearly every pack would have no row, so nothing is removed if the journal is newer than the rows.
 * @param now of the store's clock, which may differ by minutes
 */
export async function sweepPacks(
  { db, objects, clock, logger }: Pick<StoreDeps, 'db' | 'objects' | 'clock' | 'logger'>,
  shouldContinue: () => Promise<boolean> = async () => true,
): Promise<Sweep> {
  const now = clock.now();
  const journal = new Map<string, JournalState>();
  const ended: { key: string; repository: string }[] = [];
  for await (const { key, repository, generation, isEnd, storedAt } of listJournal(objects)) {
    const state = journal.get(repository);
    if (state === undefined || generation > state.generation)
      journal.set(repository, { generation, isEnded: isEnd, at: storedAt });
    if (now - storedAt > endedForMs) ended.push({ key, repository });
  }
  // Read after the journal, which is written after the rows.
  const generations = new Map(
    (await rows<{ id: string; generation: number }>(db.read, 'SELECT id, generation FROM stored_repositories')).map(
      ({ id, generation }) => [id, Number(generation)],
    ),
  );
  const older = [...journal].flatMap(([id, { generation, isEnded }]) =>
    (generations.get(id) ?? (isEnded ? Infinity : -1)) < generation ? [id] : [],
  );
  if (older.length > 0) {
    logger.error('repository_store.rows_are_older', { repositories: older.length, first: older[0] });
    return { removed: 0, bytes: 0, older };
  }

  const mayGo = (repository: string, storedAt: number): boolean => {
    const state = journal.get(repository);
    if (state === undefined && !generations.has(repository)) return now - storedAt > unknownForMs;
    return now - storedAt > unnamedForMs && (state?.isEnded !== true || now - state.at > unnamedForMs);
  };
  let removed = 0;
  let bytes = 0;
  let batch: { key: string; bytes: number }[] = [];
  const removeUnnamed = async (): Promise<void> => {
    const named = await namedKeys(db, [...new Set(batch.map(({ key }) => withoutEnding(key)))]);
    for (const object of batch) {
      if (named.has(withoutEnding(object.key))) continue;
      await objects.remove(object.key);
      removed += 1;
      bytes += object.bytes;
    }
    batch = [];
  };
  for await (const { key, bytes: own, storedAt } of objects.list('packs/')) {
    if (!mayGo(key.split('/')[1] ?? '', storedAt)) continue;
    batch.push({ key, bytes: own });
    if (batch.length < askedAtOnce) continue;
    await removeUnnamed();
    if (!(await shouldContinue())) return { removed, bytes, older };
  }
  await removeUnnamed();
  for (const { key, repository } of ended) if (journal.get(repository)?.isEnded === true) await objects.remove(key);
  if (removed > 0) logger.info('repository_store.swept', { objects: removed, bytes });
  return { removed, bytes, older };
}

const withoutEnding = (key: string): string => key.replace(/\.[a-z]+$/, '');

async function namedKeys(db: StoreDeps['db'], keys: readonly string[]): Promise<Set<string>> {
  const found = await rows<{ key: string }>(db.read, `SELECT key FROM git_packs WHERE ${inList('key')}`, [
    JSON.stringify(keys),
  ]);
  return new Set(found.map(({ key }) => key));
}
