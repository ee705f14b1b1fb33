import { rows } from '../db/index.ts';
import type { Tx } from '../db/index.ts';
import { isDomainError, unavailable } from '../kernel/index.ts';
import { claim, dueKeys, release } from './claim.ts';
import type { ClaimedMessage } from './claim.ts';
import type { OutboxDeps } from './deps.ts';
import type { Attempt, Handled, Handler, HandlerMetrics, Message } from './handler.ts';
import type { Finished, KeyLimits, Queue } from './drain.ts';
import { nextMessageState } from './message-state.ts';
import type { NextState } from './message-state.ts';

/** One message of a key at a time, so that a receiver gets them in order unless one fails. */
const limits: KeyLimits = { inFlight: 1, claim: 16 };

/** A finished attempt; null if it was aborted because the server stops, which does not count as an attempt. */
type Result<Details> = { message: Message; handled: Handled<Details | null>; attempt: Attempt<Details> } | null;

/** The messages of one kind as a queue for drains. The report is the number of attempts. */
export function messageQueue<Details>(
  deps: OutboxDeps,
  handler: Handler<Details>,
  metrics: HandlerMetrics,
): Queue<ClaimedMessage, Result<Details>, { attempts: number }> {
  const { db, clock, logger } = deps;
  const { kind } = handler;
  const report = { attempts: 0 };

  async function attempt(item: ClaimedMessage, signal: AbortSignal): Promise<Result<Details>> {
    const startedAt = clock.now();
    const began = performance.now();
    metrics.attemptsInFlight += 1;
    let message: Message = { ...item, payload: null };
    let handled: Handled<Details | null> | null;
    try {
      const [row] = await rows<Pick<Message, 'payload'>>(db.read, 'SELECT payload FROM outbox WHERE id = ?', [item.id]);
      message = { ...message, payload: row?.payload ?? null };
      handled = await handleInTime(handler, message, signal);
    } catch (error) {
      handled = signal.aborted ? null : failure(item, error);
    }
    metrics.attemptsInFlight -= 1;
    if (handled === null) return null;
    const tookMs = Math.round(performance.now() - began);
    metrics.attemptSeconds += tookMs / 1000;
    const { outcome, details } = handled;
    const { state } = stateAfter(item, outcome, startedAt + tookMs);
    metrics.attempts[state === 'DELIVERED' ? 'delivered' : state === 'PENDING' ? 'retry' : 'failed'] += 1;
    return { message, handled, attempt: { outcome, state, startedAt, tookMs, details } };
  }

  const stateAfter = (item: ClaimedMessage, outcome: Handled<unknown>['outcome'], endedAt: number): NextState =>
    nextMessageState(item, outcome, endedAt, handler.maxAttempts);

  function failure({ id }: ClaimedMessage, error: unknown): Handled<null> {
    if (!isDomainError(error)) logger.error('outbox.handler_failed', { kind, message: id, error });
    const words = isDomainError(error) ? error.message : 'an internal error';
    return { outcome: { error: words, mayRetry: true }, details: null };
  }

  /** Records a success even if the lease has expired; a failure only while this process holds the lease. */
  async function record(tx: Tx, { item, result }: Finished<ClaimedMessage, Result<Details>>): Promise<void> {
    if (result === null) return release(tx, [item]);
    const { message, handled, attempt } = result;
    const next = stateAfter(item, attempt.outcome, attempt.startedAt + attempt.tookMs);
    const recorded = await rows(
      tx.manager,
      `UPDATE outbox SET state = ?, attempts = ?, next_at = ?, lease_until = ?, last_error = ?, payload = coalesce(?, payload)
        WHERE id = ? AND state = 'PENDING' ${next.state === 'DELIVERED' ? '' : 'AND lease_until = ?'} RETURNING id`,
      [
        ...[next.state, next.attempts, next.nextAt, next.leaseUntil, next.lastError, handled.payload ?? null, item.id],
        ...(next.state === 'DELIVERED' ? [] : [item.leaseUntil]),
      ],
    );
    if (recorded.length > 0) await handler.record?.(tx, message, attempt);
  }

  return {
    slots: handler.slots,
    maxKeys: 2 * handler.slots,
    leaseMarginMs: handler.timeoutMs + 5_000,
    report,
    now: () => clock.now(),
    dueKeys: async () => new Map((await dueKeys(db.read, kind, clock.now())).map((key) => [key, limits])),
    attempt,
    limitsAfter: () => null,
    write: ({ finished, released, wanted }) =>
      db.write(async (tx) => {
        for (const each of finished) await record(tx, each);
        await release(tx, released);
        return claim(tx, kind, wanted);
      }),
    written(finished) {
      for (const { result } of finished) {
        if (result === null) continue;
        report.attempts += 1;
        handler.recorded?.(result.message, result.attempt);
      }
    },
    notWritten: (finished, error) => logger.warn('outbox.not_recorded', { kind, attempts: finished.length, error }),
  };
}

/**
 * Ends with the handler, its timeout or the shutdown of the server, whichever comes first; then the handler is aborted.
 */
async function handleInTime<Details>(
  handler: Handler<Details>,
  message: Message,
  stopping: AbortSignal,
): Promise<Handled<Details>> {
  const controller = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = (reason: unknown): void => {
    reject(reason);
    controller.abort(reason);
  };
  const onStop = (): void => end(stopping.reason);
  if (stopping.aborted) throw stopping.reason;
  stopping.addEventListener('abort', onStop, { once: true });
  const seconds = handler.timeoutMs / 1000;
  const timer = setTimeout(
    () => end(unavailable('handler_timeout', `The handler took longer than ${seconds} seconds.`)),
    handler.timeoutMs,
  );
  try {
    return await Promise.race([handler.handle(message, controller.signal), ended]);
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener('abort', onStop);
  }
}
