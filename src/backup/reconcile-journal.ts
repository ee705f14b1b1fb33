import { askDatabaseFile } from '../db/index.ts';
import type { ThreadStatement } from '../db/index.ts';
import type { Random } from '../kernel/index.ts';
import { listenersWithSideEffects } from './listeners-with-side-effects.ts';
import { noRef } from '../kernel/index.ts';

/** The refs of a repository on disk. */
export interface RefsOnDisk {
  id: string;
  refs: ReadonlyMap<string, string>;
}

const plain = (sql: string, ...parameters: unknown[]): ThreadStatement => ({ sql, parameters });

/** The last journalled value of each ref; within one millisecond, the row that was inserted later. */
const lastMoves = `SELECT ref, oid FROM (SELECT u.ref, u.new_id AS oid, max(p.created_at * 1000000 + p.rowid % 1000000)
  FROM pushes p JOIN push_updates u ON u.push_id = p.id WHERE p.repository_id = ? AND u.result = 'ok' GROUP BY u.ref)`;
/** Unsettled entries; the next start settles them by comparing refs. */
const openMoves =
  'SELECT DISTINCT u.ref FROM pushes p JOIN push_updates u ON u.push_id = p.id WHERE p.repository_id = ? AND p.settled_at IS NULL';

/** Repositories per transaction. */
const atOnce = 100;

/**
 * Reconciles the push journal of a database that is older than its repositories with their refs: a ref that was updated
 * without an entry gets one, "by restoring", so that all data derived from pushes becomes current. No server may have
 * the database open; its schema may be an older one. Repositories without a row are skipped.
 * @returns number of repositories that got an entry
 */
export async function reconcileJournal(
  file: string,
  repositories: AsyncIterable<RefsOnDisk>,
  { random, now }: { random: Random; now: number },
): Promise<number> {
  const [made = []] = await askDatabaseFile(file, [plain("SELECT sql FROM sqlite_master WHERE name = 'pushes'")]);
  const via = String(made[0]?.['sql']).includes("'undo'") ? 'undo' : 'http';
  let changed = 0;
  for await (const some of inBatches(repositories)) {
    const statements = some.flatMap(({ id }) => [
      plain('SELECT id FROM repositories WHERE id = ?', id),
      plain(lastMoves, id),
      plain(openMoves, id),
    ]);
    const results = await askDatabaseFile(file, statements);
    const entries = some.flatMap(({ id, refs }, at) => {
      const [row = [], last = [], open = []] = results.slice(3 * at, 3 * at + 3);
      const unsettled = new Set(open.map(({ ref }) => String(ref)));
      const moves = differences(new Map(last.map(({ ref, oid }) => [String(ref), String(oid)])), refs).filter(
        ({ ref }) => !unsettled.has(ref),
      );
      return row.length === 0 || moves.length === 0
        ? []
        : [entry({ pushId: random.uuid(), repositoryId: id, via, now, moves })];
    });
    if (entries.length > 0) await askDatabaseFile(file, entries.flat(), { setUp: [] });
    changed += entries.length;
  }
  return changed;
}

function entry({
  pushId,
  repositoryId,
  via,
  now,
  moves,
}: {
  pushId: string;
  repositoryId: string;
  via: string;
  now: number;
  moves: readonly Move[];
}): ThreadStatement[] {
  const rows = JSON.stringify(moves.map((move, position) => ({ ...move, position })));
  return [
    plain(
      'INSERT INTO pushes (id, repository_id, via, created_at, settled_at) VALUES (?, ?, ?, ?, ?)',
      pushId,
      repositoryId,
      via,
      now,
      now,
    ),
    plain(
      `INSERT INTO push_updates (push_id, position, ref, old_id, new_id, result)
      SELECT ?, value->>'position', value->>'ref', value->>'from', value->>'to', 'ok' FROM json_each(?)`,
      pushId,
      rows,
    ),
    plain(
      'INSERT INTO push_announcements (push_id, listener) SELECT ?, value FROM json_each(?)',
      pushId,
      JSON.stringify(listenersWithSideEffects),
    ),
    plain('UPDATE repositories SET pushed_at = ?, updated_at = ? WHERE id = ?', now, now, repositoryId),
  ];
}

async function* inBatches(all: AsyncIterable<RefsOnDisk>): AsyncGenerator<RefsOnDisk[]> {
  let chunk: RefsOnDisk[] = [];
  for await (const each of all) {
    chunk.push(each);
    if (chunk.length < atOnce) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

interface Move {
  ref: string;
  from: string;
  to: string;
}

function differences(last: ReadonlyMap<string, string>, refs: ReadonlyMap<string, string>): Move[] {
  const names = [...new Set([...last.keys(), ...refs.keys()])].sort();
  return names.flatMap((ref) => {
    const before = last.get(ref);
    const to = refs.get(ref);
    const from = before === undefined || noRef.test(before) ? undefined : before;
    return from === to ? [] : [{ ref, from: from ?? zeros(to!), to: to ?? zeros(from!) }];
  });
}

const zeros = (oid: string): string => '0'.repeat(oid.length);
