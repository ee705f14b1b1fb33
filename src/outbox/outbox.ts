import { isAlone } from '../nodes/index.ts';
import { rows } from '../db/index.ts';
import type { Tx } from '../db/index.ts';
import { conflict, internal, notFound } from '../kernel/index.ts';
import type { OutboxDeps } from './deps.ts';
import type { Handler, HandlerMetrics } from './handler.ts';
import { createDrain } from './drain.ts';
import type { Drain } from './drain.ts';
import { messageQueue } from './message-queue.ts';
import { outboxSchema } from './schema/outbox-schema.ts';

/** The longest timeout of a handler: half of a lease. */
const maxTimeoutMs = 5 * 60_000;

interface NewMessage {
  kind: string;
  /** See `MessageRow`. */
  key: string;
  payload: string | null;
  /** When it becomes due, milliseconds since the epoch; now when left out. */
  at?: number;
}

interface Registered {
  handler: Pick<Handler, 'kind' | 'keepMs'>;
  drain: Drain<{ attempts: number }>;
  metrics: HandlerMetrics;
}

/**
 * Messages that are to be sent or done after the write that causes them: a row of `outbox` each, handled at least
 * once by the handler of its kind, retried with backoff, FAILED after its last attempt, and kept for a while for those
 * who look. What a module shows of its messages besides is in a table of its own with the same id.
 */
export function createOutbox(deps: OutboxDeps) {
  const { db, clock, logger } = deps;
  const registered = new Map<string, Registered>();
  const of = (kind: string): Registered => {
    const found = registered.get(kind);
    if (found === undefined) throw internal(`no handler is registered for ${kind}`);
    return found;
  };

  async function drain(kind: string): Promise<number> {
    return (await of(kind).drain.drain())?.attempts ?? 0;
  }

  return {
    /** Once for each kind, while the program is built. */
    register<Details>(handler: Handler<Details>): void {
      if (registered.has(handler.kind)) throw internal(`a second handler for ${handler.kind}`);
      if (handler.timeoutMs > maxTimeoutMs) throw internal(`the timeout of ${handler.kind} is too long for a lease`);
      const metrics: HandlerMetrics = {
        attempts: { delivered: 0, retry: 0, failed: 0 },
        attemptSeconds: 0,
        attemptsInFlight: 0,
      };
      registered.set(handler.kind, {
        handler,
        metrics,
        drain: createDrain(() => messageQueue(deps, handler, metrics)),
      });
    },

    /** Inside the write of what causes it: both happen, or neither. @returns the message's id */
    async enqueue({ manager, now }: Tx, { kind, key, payload, at = now }: NewMessage): Promise<number> {
      const { identifiers } = await manager.insert(outboxSchema, {
        kind,
        key,
        payload,
        state: 'PENDING',
        attempts: 0,
        nextAt: at,
        leaseUntil: 0,
        createdAt: now,
        lastError: null,
      });
      return Number(identifiers[0]!['id']);
    },

    /** Handles what is due of a kind. @returns how many attempts were made */
    drain,

    /**
     * Makes a FAILED message PENDING again, with all its attempts before it.
     * Refuses `unknown_message`; `message_not_failed` for one that is running or done.
     */
    async retry(id: number): Promise<void> {
      const kind = await db.write(async ({ manager, now }) => {
        const row = await manager.findOneBy(outboxSchema, { id });
        if (row === null) throw notFound('unknown_message', 'There is no such message.');
        if (row.state !== 'FAILED')
          throw conflict('message_not_failed', `Message ${id} is ${row.state}; only a FAILED one can be tried again.`);
        await manager.update(outboxSchema, { id }, { state: 'PENDING', attempts: 0, nextAt: now, leaseUntil: 0 });
        return row.kind;
      });
      logger.info('outbox.retried', { kind, message: id });
    },

    /**
     * Removes messages of a kind that are DELIVERED or FAILED and older than the retention of its handler. @returns how
     * many
     */
    async removeOld(kind: string): Promise<number> {
      const before = clock.now() - of(kind).handler.keepMs;
      const { affected } = await db.write(({ manager }) =>
        manager
          .createQueryBuilder()
          .delete()
          .from(outboxSchema)
          .where(`kind = :kind AND state <> 'PENDING' AND created_at < :before`, { kind, before })
          .execute(),
      );
      return affected ?? 0;
    },

    /** At start: where no other node is there, leases of the program that ran before are void. */
    async recover(): Promise<void> {
      const leases = `state = 'PENDING' AND lease_until > 0 AND ${isAlone(db)}`;
      const leased = await rows(db.read, `SELECT 1 FROM outbox WHERE ${leases} LIMIT 1`);
      // Nearly every start finds none, and then waits for no write.
      if (leased.length === 0) return;
      await db.write(({ manager }) => rows(manager, `UPDATE outbox SET lease_until = 0 WHERE ${leases}`));
    },

    /** By kind. */
    metrics: (): ReadonlyMap<string, Readonly<HandlerMetrics>> =>
      new Map([...registered].map(([kind, { metrics }]) => [kind, metrics])),

    /** Aborts what is in flight, uncounted, and releases what was claimed. */
    async stop(): Promise<void> {
      await Promise.all([...registered.values()].map(({ drain }) => drain.stop()));
    },
  };
}

export type Outbox = ReturnType<typeof createOutbox>;
