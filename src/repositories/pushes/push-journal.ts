import { IsNull } from 'typeorm';
import type { Database } from '../../db/index.ts';
import type { Random } from '../../kernel/index.ts';
import { pushSchema, pushUpdateSchema } from './push-schema.ts';
import type { PushRow, PushUpdateRow } from './push-schema.ts';
import { repositorySchema } from '../repository-schema.ts';

/** One command of a push. Ids are full hex object ids, all zero for "no ref". */
export interface RefUpdate {
  ref: string;
  oldId: string;
  newId: string;
}

/** What became of one command. */
export interface RefResult {
  ref: string;
  ok: boolean;
  reason?: string | undefined;
}

/**
 * The journal that a push is written to before git may act on it (DESIGN §2).
 * Because it comes first, an acknowledged push is always known; because it is
 * settled by refs at start-up, one cut short is known for what it became.
 */
export class PushJournal {
  readonly #db: Database;
  readonly #random: Random;

  constructor(db: Database, random: Random) {
    this.#db = db;
    this.#random = random;
  }

  /** Writes a push with all its commands in one transaction; durable when this resolves. */
  begin(push: {
    repositoryId: string;
    userId: string | null;
    via: 'http' | 'ssh';
    options: readonly string[];
    updates: readonly RefUpdate[];
  }): Promise<string> {
    const id = this.#random.uuid();
    return this.#db.write(async ({ manager, now }) => {
      await manager.insert(pushSchema, {
        id,
        repositoryId: push.repositoryId,
        userId: push.userId,
        via: push.via,
        options: JSON.stringify(push.options),
        createdAt: now,
        settledAt: null,
        announcedAt: null,
      });
      const rows = push.updates.map((update, position) => ({ ...update, pushId: id, position, result: null, reason: null }));
      // A statement has a limited number of parameters; a push has up to 10,000 commands.
      for (let start = 0; start < rows.length; start += 500) {
        await manager.insert(pushUpdateSchema, rows.slice(start, start + 500));
      }
      return id;
    });
  }

  /**
   * Records the verdict on each command, once; a second settlement changes nothing.
   * A push without any accepted command has nothing to announce.
   */
  async settle(pushId: string, results: readonly RefResult[]): Promise<void> {
    const byRef = new Map(results.map((result) => [result.ref, result]));
    await this.#db.write(async ({ manager, now }) => {
      const push = await manager.findOneBy(pushSchema, { id: pushId, settledAt: IsNull() });
      if (push === null) return;
      const updates = await manager.findBy(pushUpdateSchema, { pushId });
      const rejected = updates.filter(({ ref }) => !byRef.get(ref)?.ok);
      const anyAccepted = rejected.length < updates.length;
      await manager.update(pushUpdateSchema, { pushId }, { result: 'ok' });
      for (const { position, ref } of rejected) {
        const reason = byRef.get(ref)?.reason ?? 'no report from git';
        await manager.update(pushUpdateSchema, { pushId, position }, { result: 'rejected', reason });
      }
      await manager.update(pushSchema, { id: pushId }, { settledAt: now, announcedAt: anyAccepted ? null : now });
      if (anyAccepted) {
        await manager.update(repositorySchema, { id: push.repositoryId }, { pushedAt: now, updatedAt: now });
      }
    });
  }

  /** Pushes whose verdict was never written: the program ended while git was at work. Oldest first. */
  unsettled(): Promise<PushRow[]> {
    return this.#db.read.find(pushSchema, { where: { settledAt: IsNull() }, order: { createdAt: 'ASC', id: 'ASC' } });
  }

  updatesOf(pushId: string): Promise<PushUpdateRow[]> {
    return this.#db.read.find(pushUpdateSchema, { where: { pushId }, order: { position: 'ASC' } });
  }

  /** Commands of other pushes to the same repository that start from `oldId` of `ref`. */
  async startedFrom(push: PushRow, ref: string, oldId: string): Promise<boolean> {
    const count = await this.#db.read
      .createQueryBuilder(pushUpdateSchema, 'u')
      .innerJoin('pushes', 'p', 'p.id = u.push_id')
      .where('p.repository_id = :repositoryId AND p.id <> :pushId AND p.created_at >= :createdAt', {
        repositoryId: push.repositoryId,
        pushId: push.id,
        createdAt: push.createdAt,
      })
      .andWhere('u.ref = :ref AND u.old_id = :oldId', { ref, oldId })
      .getCount();
    return count > 0;
  }
}
