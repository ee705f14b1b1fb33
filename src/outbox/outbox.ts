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

/** Longest timeout of a handler in milliseconds: half of a lease. */
const maxTimeoutMs = 5 * 60_000;

interface NewMessage {
  kind: string;
  /** See `MessageRow`. */
  key: string;
  payload: string | null;
  /** Due time in milliseconds since the epoch; now if omitted. */
  at?: number;
}

interface Registered {
  handler: Pick<Handler, 'kind' | 'keepMs'>;
  drain: Drain<{ attempts: number }>;
  metrics: HandlerMetrics;
}

/**
 * Messages to be sent or handled after the write that causes them. Each is a row of `outbox`, handled at least once by
 * the handler of its kind, retried with backoff, FAILED after its last attempt, and retained for some time. Modules
 * store additional data for display in their own table with the same id.
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
    /** Called once for each kind while the application is created. */
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

    /**
     * Enqueues a message inside the write that causes it, so that both happen or neither. @returns the id of the
     * message
     */
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

    /** Handles the due messages of a kind. @returns the number of attempts */
    drain,

    /**
     * Makes a FAILED message PENDING again, with a full number of attempts. Throws `unknown_message`;
     * `message_not_failed` for a message that is pending or delivered.
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
     * Removes DELIVERED and FAILED messages of a kind that are older than the retention of its handler. @returns their
     * number
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

    /** Called at start: without other nodes, voids the leases of the previous process. */
    async recover(): Promise<void> {
      const leases = `state = 'PENDING' AND lease_until > 0 AND ${isAlone(db)}`;
      const leased = await rows(db.read, `SELECT 1 FROM outbox WHERE ${leases} LIMIT 1`);
      // Almost every start finds none, and then needs no write.
      if (leased.length === 0) return;
      await db.write(({ manager }) => rows(manager, `UPDATE outbox SET lease_until = 0 WHERE ${leases}`));
    },

    /** Metrics by kind. */
    metrics: (): ReadonlyMap<string, Readonly<HandlerMetrics>> =>
      new Map([...registered].map(([kind, { metrics }]) => [kind, metrics])),

    /** Aborts messages in flight without counting the attempt, and releases claimed ones. */
    async stop(): Promise<void> {
      await Promise.all([...registered.values()].map(({ drain }) => drain.stop()));
    },
  };
}

export type Outbox = ReturnType<typeof createOutbox>;
