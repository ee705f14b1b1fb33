import { belongsHere } from '../../nodes/index.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RecordedCredential } from '../../access/index.ts';
import { rowsTable } from '../../db/index.ts';
import type { Database, Tx } from '../../db/index.ts';
import { visitAll } from '../../kernel/index.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import { pushSchema, pushUpdateSchema } from '../schema/push-schema.ts';
import type { FirstMove, PushRow } from '../schema/push-schema.ts';

/** One command of a push. Ids are full hex object ids, all zeros for "no ref". */
export interface RefUpdate {
  ref: string;
  oldId: string;
  newId: string;
}

/** The result of one command. */
export interface RefResult {
  ref: string;
  ok: boolean;
  reason?: string | undefined;
}

interface SettleOptions {
  isAnnouncing?: boolean;
  record?: ((tx: Tx) => Promise<void>) | undefined;
}

/** Rows per statement: a push has up to 100,000 commands, and other requests run between two statements. */
const rowsAtOnce = 2_000;
const updateColumns = { position: 'bigint', ref: 'text', old_id: 'text', new_id: 'text' } as const;
const rejectedColumns = { position: 'bigint', reason: 'text' } as const;
/** Number of moves stored with the push. */
export const maxFirstMoves = 20;
const pullFolder = 'refs/pull/';

/**
 * The write-ahead journal of pushes: a push is written before git may act on it. Every acknowledged push is therefore
 * known, and comparing refs at start settles interrupted ones.
 */
export class PushJournal {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Writes a push with all its commands; durable once the transaction is. */
  async begin(
    { manager, now }: Tx,
    push: {
      id: string;
      repositoryId: string;
      userId: string | null;
      via: PushRow['via'];
      credential: RecordedCredential | null;
      /** Title of the deploy key that pushes. */
      deployKey?: string | null;
      options: readonly string[];
      updates: readonly RefUpdate[];
    },
  ): Promise<void> {
    const { updates, options, credential, deployKey = null, ...fields } = push;
    const row: PushRow = {
      ...fields,
      deployKey,
      credential: credential === null ? null : JSON.stringify(credential),
      options: JSON.stringify(options),
      createdAt: now,
      settledAt: null,
      announcedAt: null,
      attempts: 0,
      triedAt: null,
      lastError: null,
      parkedAt: null,
      moved: null,
      firstMoves: null,
      node: this.#db.node,
    };
    await manager.insert(pushSchema, row);
    let position = 0;
    // Bypasses the mapper, which takes most of the time of a push of 100,000 commands.
    for (const some of inBatches(updates, rowsAtOnce))
      await manager.query(
        `INSERT INTO push_updates (push_id, position, ref, old_id, new_id)
          SELECT CAST(? AS text), position, ref, old_id, new_id FROM ${rowsTable(updateColumns)}`,
        [push.id, JSON.stringify(some.map(({ ref, oldId, newId }) => [position++, ref, oldId, newId]))],
      );
  }

  /**
   * Records the result of each command once; a second result changes nothing. A push without accepted commands is not
   * announced. Not synced by itself, so that the client does not wait for the disk twice: a power failure that loses it
   * leaves refs unmoved by later pushes, because the journal row of a later push would have been synced behind it. The
   * next start settles the push by these refs.
   * @param updates all commands of the push, in order
   * @param results one per command
   * @param options.isAnnouncing whether the announcement follows at once; counts it as begun without a separate
   *   transaction
   * @param options.record records the effects of accepted commands in the same transaction, which is then synced
   */
  async settle(
    pushId: string,
    updates: readonly RefUpdate[],
    results: readonly RefResult[],
    options: SettleOptions = {},
  ): Promise<void> {
    const { isAnnouncing = false } = options;
    const rejected: [position: number, reason: string][] = [];
    const firstMoves: FirstMove[] = [];
    let moved = 0;
    await visitAll(results, ({ ok, reason }, position) => {
      if (!ok) return void rejected.push([position, reason ?? 'refused']);
      const { ref, oldId, newId } = updates[position]!;
      if (ref.startsWith(pullFolder)) return;
      if ((moved += 1) <= maxFirstMoves) firstMoves.push([position, ref, oldId, newId]);
    });
    const anyAccepted = rejected.length < results.length;
    const record = anyAccepted ? options.record : undefined;
    const settle = async (tx: Tx): Promise<void> => {
      const { manager, before, now } = tx;
      const push = await before.findOneBy(pushSchema, { id: pushId });
      if (push === null || (push.settledAt !== null && !this.#wasGivenUp(push))) return;
      const settleUpdates = async () => {
        await manager.update(pushUpdateSchema, { pushId }, { result: 'ok' });
        for (const some of inBatches(rejected, rowsAtOnce))
          await manager.query(
            `UPDATE push_updates SET result = 'rejected', reason = list.reason
              FROM ${rowsTable(rejectedColumns)} WHERE push_id = ? AND push_updates.position = list.position`,
            [JSON.stringify(some), pushId],
          );
      };
      // The client waits: one round trip to the writer thread instead of three.
      await Promise.all([
        settleUpdates(),
        manager.update(
          pushSchema,
          { id: pushId },
          {
            settledAt: now,
            announcedAt: anyAccepted ? null : now,
            moved,
            firstMoves: JSON.stringify(firstMoves),
            ...(isAnnouncing && anyAccepted ? { attempts: 1, triedAt: now } : {}),
          },
        ),
        anyAccepted && manager.update(repositorySchema, { id: push.repositoryId }, { pushedAt: now, updatedAt: now }),
      ]);
      await record?.(tx);
    };
    await this.#db.write(settle, record === undefined ? { durable: 'with-the-next' } : {});
  }

  /**
   * Whether another node gave up on a push of this one and found no effect: this node was unresponsive for long and
   * reported its result later.
   */
  #wasGivenUp({ node, moved }: PushRow): boolean {
    return this.#db.node !== null && node !== this.#db.node && moved === 0;
  }

  /** Unsettled pushes of this node, oldest first: git is running, or the program exited while it was. */
  unsettled(): Promise<PushRow[]> {
    // An unsettled push is also unannounced, and unannounced pushes have an index.
    return this.#db.read
      .createQueryBuilder(pushSchema, 'p')
      .where('p.settled_at IS NULL AND p.announced_at IS NULL')
      .andWhere(belongsHere(this.#db, 'p.node'))
      .orderBy('p.created_at')
      .addOrderBy('p.id')
      .getMany();
  }

  /** The commands of a push in order: all, or only the accepted ones. */
  async updatesOf(pushId: string, which: 'all' | 'accepted' = 'all'): Promise<RefUpdate[]> {
    const updates: RefUpdate[] = [];
    let rows: (RefUpdate & { position: number })[] = [];
    // Paged, because one statement would block the event loop.
    for (let after = -1; rows.length === rowsAtOnce || after === -1; after = Number(rows.at(-1)?.position ?? 0)) {
      const query = this.#selectMoves()
        .addSelect('u.position', 'position')
        .where('u.push_id = :pushId AND u.position > :after', { pushId, after })
        .orderBy('u.position')
        .limit(rowsAtOnce);
      if (which === 'accepted') query.andWhere("u.result = 'ok'");
      rows = await query.getRawMany();
      for (const { ref, oldId, newId } of rows) updates.push({ ref, oldId, newId });
      if (rows.length === rowsAtOnce) await nextTurn();
    }
    return updates;
  }

  /** Commands that git accepted in pushes to a repository journalled no earlier than `since`. */
  acceptedSince(repositoryId: string, since: number): Promise<RefUpdate[]> {
    return this.#selectMoves()
      .innerJoin('pushes', 'p', 'p.id = u.push_id')
      .where('p.repository_id = :repositoryId AND p.created_at >= :since', { repositoryId, since })
      .andWhere("u.result = 'ok'")
      .getRawMany();
  }

  /** Plain rows, because hydrating ten thousand entities takes ten times as long. */
  #selectMoves() {
    return this.#db.read
      .createQueryBuilder(pushUpdateSchema, 'u')
      .select('u.ref', 'ref')
      .addSelect('u.old_id', 'oldId')
      .addSelect('u.new_id', 'newId');
  }
}

function* inBatches<Row>(rows: readonly Row[], size: number): Generator<Row[]> {
  for (let start = 0; start < rows.length; start += size) yield rows.slice(start, start + size);
}
