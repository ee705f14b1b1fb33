import { createDrain } from '../../outbox/index.ts';
import type { KeyLimits, Queue } from '../../outbox/index.ts';
import type { FederationDeps } from '../deps.ts';
import { attempt, loadMessage } from './attempt-delivery.ts';
import type { OutboxMessage } from './attempt-delivery.ts';
import { claim, dueHosts, release } from './claim.ts';
import type { ClaimedDelivery, HostsWithCapacity } from './claim.ts';
import { healthOf } from './peer-health.ts';
import { recordAttempts } from './record-attempts.ts';
import type { Attempt } from './record-attempts.ts';
import { createIsStillPublic } from './is-still-public.ts';

/** Rows claimed at once: for a host that responds, and for one that has not responded yet. */
const claimAtOnce = 32;
const claimToProbe = 2;
const leaseMarginMs = 15_000;
const cachedMessages = 64;
/** Maximum age in milliseconds of the recorded success of a host, which is only displayed. */
const recordAgainMs = 10_000;

/** Result of a run. */
interface DeliveryReport {
  delivered: number;
  failed: number;
}

/** Sends the queued deliveries. */
interface DeliveryQueue {
  /** Sends everything that is due; one run at a time: a second call joins the first. */
  drain(): Promise<DeliveryReport>;
  /** Aborts running attempts, uncounted, and releases claims. */
  stop(): Promise<void>;
}

/**
 * Deliveries use the outbox's drain but a table of their own: the specification names `federation_delivery` and its
 * states, users see its numbers, and a push to ten thousand followers is one body and ten thousand narrow rows,
 * inserted by one statement. The policy here decides when and what to send to a host.
 */
export function createDeliveryQueue(deps: FederationDeps): DeliveryQueue {
  const { drain, stop } = createDrain(() => hostQueue(deps));
  return { drain: async () => (await drain()) ?? { delivered: 0, failed: 0 }, stop };
}

/** State of one run: what its attempts share, and the state of hosts. */
function hostQueue(deps: FederationDeps): Queue<ClaimedDelivery, Attempt, DeliveryReport> {
  const { db, clock, settings, logger } = deps;
  const report: DeliveryReport = { delivered: 0, failed: 0 };
  const isPublic = createIsStillPublic(deps);
  const messages = new Map<string, Promise<OutboxMessage | null>>();
  /** Time when a success of the host was last recorded; milliseconds since the epoch. */
  const recordedAt = new Map<string, number>();
  const isRecorded = (host: string, now: number): boolean => now - (recordedAt.get(host) ?? 0) < recordAgainMs;
  const normal: KeyLimits = {
    inFlight: settings.slotsPerHost,
    claim: settings.slotsPerHost === 1 ? claimToProbe : claimAtOnce,
  };
  /** One until the host has responded, so that a hundred dead hosts take a hundred slots, not four hundred. */
  const probe: KeyLimits = { inFlight: 1, claim: claimToProbe };

  /** A push is sent to thousands of inboxes in the same bytes. */
  function messageOf(outboxId: string): Promise<OutboxMessage | null> {
    let message = messages.get(outboxId);
    if (message === undefined) {
      message = loadMessage(deps, outboxId);
      messages.set(outboxId, message);
      if (messages.size > cachedMessages) messages.delete(messages.keys().next().value!);
    }
    return message;
  }

  return {
    slots: settings.slots,
    // There are at most as many hosts as the allowlist has.
    maxKeys: Infinity,
    leaseMarginMs,
    report,
    now: () => clock.now(),
    async dueKeys() {
      const hosts = await dueHosts(db.read, clock.now());
      const health = await healthOf(db.read, hosts);
      const hasRecentSuccess = (host: string): boolean => {
        const known = health.get(host);
        return known?.lastSuccessAt != null && known.failures === 0;
      };
      return new Map(hosts.map((host) => [host, hasRecentSuccess(host) ? normal : probe]));
    },
    attempt: (delivery, signal) => attempt(deps, delivery, { message: messageOf(delivery.outboxId), isPublic, signal }),
    limitsAfter: ({ outcome, wasReached }) => (outcome === null ? null : wasReached ? normal : 'down'),
    async write({ finished, released, waiting, wanted }) {
      const now = clock.now();
      const hostsFor = (limit: number): HostsWithCapacity => ({
        limit,
        hosts: wanted.filter((each) => each.limit === limit).map(({ key }) => key),
      });
      const attempts = finished.map(({ result }) => result);
      const { givenUp, claimed } = await db.write(async (tx) => {
        const givenUp = await recordAttempts(tx, attempts, waiting, settings.maxAttempts, (host) =>
          isRecorded(host, now),
        );
        await release(tx, released);
        return { givenUp, claimed: await claim(tx, hostsFor(claimToProbe), hostsFor(claimAtOnce)) };
      });
      for (const { host, since } of givenUp)
        logger.warn('peer.given_up', { host, silentSince: new Date(since).toISOString() });
      return claimed;
    },
    written(finished) {
      const now = clock.now();
      for (const {
        result: { delivery, outcome, wasReached },
      } of finished) {
        const { key: host, id } = delivery;
        if (outcome === null) continue;
        if (outcome.kind === 'delivered') {
          report.delivered += 1;
          if (!isRecorded(host, now)) recordedAt.set(host, now);
          continue;
        }
        if (!wasReached) recordedAt.delete(host);
        if (outcome.kind === 'failed') report.failed += 1;
        logger.info('delivery.not_delivered', { delivery: id, host, error: outcome.error });
      }
    },
    notWritten: (finished, error) => logger.warn('delivery.not_recorded', { attempts: finished.length, error }),
  };
}
