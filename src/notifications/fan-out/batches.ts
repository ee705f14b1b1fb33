import type { Tx } from '../../db/index.ts';
import { createKeyedMutex, waitAtMost } from '../../kernel/index.ts';
import type { NotificationDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { deploymentRecipients } from '../recipients/deployment-recipients.ts';
import { releaseRecipients } from '../recipients/release-recipients.ts';
import { runRecipients } from '../recipients/run-recipients.ts';
import { batchSchema } from '../schema/notification-schema.ts';
import type { BatchRow } from '../schema/notification-schema.ts';
import type { Batch, NotifiedEvent, Recipient } from '../notified-event.ts';
import { resolveNotifications } from './resolve-notifications.ts';
import { writeNotifications } from './write-notifications.ts';

/** Batches per query. */
const batchesAtOnce = 20;
/** Delay before the next attempt, by number of attempts; the scheduled task runs every minute. */
const retryAfterMs = (attempts: number): number => attempts * 60_000;
/** A run ends inside a transaction of `ci`, which does not announce when it is durable. */
const delayMs = 200;
const stopTimeoutMs = 10_000;

/**
 * Notifies of an event inside the transaction that records it: the first users at once, all others in later
 * transactions of their own, so that an event never delays other writes, however many users it concerns.
 */
export async function notifyRecipients(
  { mailer }: Pick<NotificationDeps, 'mailer'>,
  tx: Tx,
  event: NotifiedEvent,
  recipients: readonly Recipient[],
): Promise<void> {
  const first = recipients.slice(0, limits.batchSize);
  await writeNotifications(tx, event, first);
  if (mailer.isOn)
    await mailer.enqueue(
      tx,
      event,
      first.filter(({ mail }) => mail),
    );
  for (let start = limits.batchSize; start < recipients.length; start += limits.batchSize)
    await addBatch(tx, { kind: 'told', event, recipients: recipients.slice(start, start + limits.batchSize) });
}

export async function addBatch({ manager, now }: Tx, batch: Batch): Promise<void> {
  await manager.insert(batchSchema, {
    payload: JSON.stringify(batch),
    createdAt: now,
    attempts: 0,
    nextAt: now,
    lastError: null,
  });
}

function recipientsOf(deps: NotificationDeps, batch: Batch): readonly Recipient[] | Promise<readonly Recipient[]> {
  switch (batch.kind) {
    case 'told':
      return batch.recipients;
    case 'run-failed':
      return runRecipients(deps, batch);
    case 'released':
      return releaseRecipients(deps, batch);
    case 'deployment-waits':
      return deploymentRecipients(deps, batch);
    case 'run-succeeded':
    case 'deployment-settled':
      return [];
  }
}

/** Whether the subject of an event still exists since it was queued. */
async function isThere({ manager }: Tx, { subject, repositoryId, issueId }: NotifiedEvent): Promise<boolean> {
  if (subject.startsWith('release:')) {
    const id = subject.slice('release:'.length);
    const releases: unknown[] = await manager.query('SELECT 1 FROM releases WHERE id = ? AND is_draft = 0', [id]);
    if (releases.length === 0) return false;
  }
  const [found]: { repositories: number; issues: number }[] = await manager.query(
    `SELECT (SELECT count(*) FROM repositories WHERE id = ?) AS repositories,
       (SELECT count(*) FROM issues WHERE id = ?) AS issues`,
    [repositoryId, issueId],
  );
  return Number(found!.repositories) === 1 && (issueId === null || Number(found!.issues) === 1);
}

/** Processes `notification_batches`, each batch in one transaction that removes it. */
export class BatchDrain {
  readonly #deps: NotificationDeps;
  readonly #inTurn = createKeyedMutex();
  #soon: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(deps: NotificationDeps) {
    this.#deps = deps;
  }

  /** Runs after the current transaction is durable. */
  scheduleDrain(): void {
    if (this.#soon !== null || this.#isStopped) return;
    this.#soon = setTimeout(() => {
      this.#soon = null;
      void this.drainAll();
    }, delayMs);
    this.#soon.unref();
  }

  /** Processes all due batches, one after the other. */
  drainAll(): Promise<void> {
    return this.#inTurn('batches', () => this.#drainDue()).catch((error: unknown) =>
      this.#deps.logger.error('notifications.tell_failed', { error }),
    );
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#soon !== null) clearTimeout(this.#soon);
    await waitAtMost(this.#inTurn.settled(), stopTimeoutMs);
  }

  async #drainDue(): Promise<void> {
    for (let rows = await this.#due(); rows.length > 0 && !this.#isStopped; rows = await this.#due()) {
      for (const row of rows) {
        if (this.#isStopped) return;
        await this.#drainBatch(row).catch((error: unknown) => this.#fail(row, error));
      }
    }
  }

  #due(): Promise<BatchRow[]> {
    return this.#deps.db.read
      .createQueryBuilder(batchSchema, 'b')
      .where('b.next_at <= :now', { now: this.#deps.clock.now() })
      .orderBy('b.next_at')
      .addOrderBy('b.id')
      .limit(batchesAtOnce)
      .getMany();
  }

  async #drainBatch({ id, payload }: BatchRow): Promise<void> {
    const deps = this.#deps;
    const batch = JSON.parse(payload) as Batch;
    const recipients = await recipientsOf(deps, batch);
    await deps.db.write(async (tx) => {
      // Another process may have announced it.
      if ((await tx.manager.delete(batchSchema, { id })).affected !== 1) return;
      if (!('event' in batch)) await resolveNotifications(tx, batch);
      else if (await isThere(tx, batch.event)) await notifyRecipients(deps, tx, batch.event, recipients);
    });
  }

  async #fail({ id, attempts }: BatchRow, error: unknown): Promise<void> {
    const { db, clock, logger } = this.#deps;
    logger.error('notifications.batch_failed', { batch: id, attempts: attempts + 1, error });
    const isLast = attempts + 1 >= limits.batchAttempts;
    const message = (error instanceof Error ? error.message : String(error)).slice(0, 500);
    const nextAt = isLast ? Number.MAX_SAFE_INTEGER : clock.now() + retryAfterMs(attempts + 1);
    await db.write(({ manager }) =>
      manager.update(batchSchema, { id }, { attempts: attempts + 1, nextAt, lastError: message }),
    );
  }
}
