import { In } from 'typeorm';
import { sendDelivery } from './send-delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { webhookDeliverySchema } from './webhook-schema.ts';
import type { WebhookDeliveryRow } from './webhook-schema.ts';

/** Rows taken at once, and webhooks served at once. */
const claimAtOnce = 32;
const slots = 8;
/** An attempt takes at most 10 s, and one webhook's rows are sent one after the other. */
const leaseMs = 10 * 60_000;

export interface DeliveryQueue {
  /** Sends everything that is due; one drain at a time, a second call joins it and is heard. Answers how many attempts were made. */
  drain(): Promise<number>;
  /** Gives up what is under way, uncounted; it is free again when its claim is over. */
  stop(): Promise<void>;
}

/** @param version of the program, for the User-Agent */
export function createDeliveryQueue(deps: WebhookDeps, version: string): DeliveryQueue {
  const stopping = new AbortController();
  let running: Promise<number> | null = null;
  let again = false;

  async function run(): Promise<number> {
    let tried = 0;
    do {
      again = false;
      for (let claimed = await claim(deps); claimed.length > 0; claimed = await claim(deps)) {
        const byHook = [...Map.groupBy(claimed, ({ webhookId }) => webhookId).values()];
        await Promise.all(
          Array.from({ length: slots }, async () => {
            for (let rows = byHook.shift(); rows !== undefined; rows = byHook.shift()) {
              for (const row of rows)
                if (!stopping.signal.aborted) await sendDelivery(deps, row, version, stopping.signal);
            }
          }),
        );
        if (stopping.signal.aborted) return tried;
        tried += claimed.length;
      }
    } while (again);
    return tried;
  }

  return {
    drain() {
      if (stopping.signal.aborted) return Promise.resolve(0);
      again = true;
      return (running ??= run().finally(() => (running = null)));
    },
    async stop() {
      stopping.abort(new Error('the server stops'));
      await running?.catch(() => {});
    },
  };
}

async function claim({ db, clock }: WebhookDeps): Promise<WebhookDeliveryRow[]> {
  const at = clock.now();
  const due: unknown[] = await db.read.query(
    "SELECT 1 FROM webhook_deliveries WHERE state = 'PENDING' AND next_attempt_at <= ? AND locked_until <= ? LIMIT 1",
    [at, at],
  );
  // An empty queue costs no write.
  if (due.length === 0) return [];
  return db.write(async ({ manager, now }) => {
    const rows: { id: number }[] = await manager.query(
      `UPDATE webhook_deliveries SET locked_until = ? WHERE id IN (
        SELECT id FROM webhook_deliveries WHERE state = 'PENDING' AND next_attempt_at <= ? AND locked_until <= ? ORDER BY id LIMIT ?)
       RETURNING id`,
      [now + leaseMs, now, now, claimAtOnce],
    );
    return manager.find(webhookDeliverySchema, { where: { id: In(rows.map(({ id }) => id)) }, order: { id: 'ASC' } });
  });
}
