import type { RequestListener } from 'node:http';
import type { Clock } from '../../kernel/index.ts';
import type { Exchange, Middleware, State } from '../context.ts';
import type { MetricFamily } from '../prometheus-text.ts';
import { createAnonymousLimits } from './anonymous-limits.ts';
import { createBackgroundPriority } from './background-priority.ts';
import type { BackgroundPriority } from './background-priority.ts';
import { createClassLimits } from './request-classes.ts';
import type { CostClass } from './request-classes.ts';
import { createFairQueue } from './fair-queue.ts';
import { delayRefusals } from './delay-refusals.ts';

/**
 * Admission: which request begins when, and which is refused when more is asked than there is.
 *
 * Clients and their keys
 * - signed in: a person whose session cookie or token was good the last time; the key is its digest.
 * - anonymous: all other clients, those with unchecked credentials included. All share one queue;
 *   the key of limits is the address prefix (an IPv4 address, 64 bits of an IPv6 address).
 * - git: passes the fair queue by the same keys; `git` limits the processes behind it by repository,
 *   person and address, and a client waits there for its turn (503, Retry-After 5).
 * - runner: passes none of this. Its calls are authenticated before they are read, hold no thread
 *   while they wait for a job, and are limited by `http-runner`.
 * Connections are limited before all that (`connection-limiter.ts`), sign-ins by `accounts` (429).
 *
 * What a request passes, in order
 * 1. Fair queue (`fair-queue.ts`): 8 requests of one client begin per turn of the event loop; the
 *    others wait. Nothing is refused.
 * 2. Anonymous limits (`anonymous-limits.ts`), for clients that are not signed in:
 *    what git, threads and long answers cost is paid from the CPU budget of the address: 30 s, refilled by 0.5 s per
 *    second.
 *    An empty budget is 429 with Retry-After until it is refilled. Then one of the places for
 *    anonymous clients: 12 for git, 16 for rows, 5 for searches, of which one address has two thirds;
 *    a thousand wait, 250 of one address. A full queue or 10 s of waiting is 503 with Retry-After 5.
 * 3. Class limits (`request-classes.ts`): so many requests of a cost class at a time, of all clients
 *    together; one more is 503 with Retry-After 2.
 * 4. Background priority (`background-priority.ts`): steps of a search wait, 10 ms at most each, while
 *    another result is being made.
 * 5. Refusals to anonymous clients are sent 5 ms apart after the first 50, 2 s late at most
 *    (`delay-refusals.ts`): a client that retries at once costs a connection and no more.
 *
 * What is shed first: anonymous searches and pages of git beyond their places, then addresses that
 * have spent their budget, then whatever exceeds a class limit. Signed-in clients only meet the
 * class limits, and wait for no anonymous client. `bench/overload.ts` measures what they notice.
 */
export interface Admission {
  /** Step 1, the stage that all but runners pass. */
  enqueue(next: RequestListener): RequestListener;
  /** To be called when a request begins: records whose credentials were valid, and what background work waits for. */
  onRequest(exchange: Pick<Exchange, 'req' | 'res' | 'state'>): void;
  /** Step 5, outside of whatever refuses. */
  delayRefusals: Middleware;
  /**
   * Steps 2 and 3 for a route.
   * @param identify sets `state.identity`; without it only the class limit holds. Where anonymous
   *   clients have limits it runs before them, elsewhere a request is limited before it is identified.
   */
  limit<Known extends State>(cost: CostClass, identify?: Middleware<Known>): Middleware<Known>[];
  /** Step 4, for the work itself. */
  background: BackgroundPriority;
  families(): MetricFamily[];
}

export function createAdmission(clock: Clock): Admission {
  const fairQueue = createFairQueue();
  const background = createBackgroundPriority();
  const classLimits = createClassLimits(background);
  const anonymous = createAnonymousLimits(clock);
  return {
    enqueue: fairQueue.enqueue,
    onRequest(exchange) {
      fairQueue.onRequest(exchange);
      background.onRequest(exchange);
    },
    delayRefusals: delayRefusals(),
    limit(cost, identify) {
      if (identify === undefined) return [classLimits[cost]];
      const anonymousLimit = anonymous.limits[cost];
      return anonymousLimit === null ? [classLimits[cost], identify] : [identify, anonymousLimit, classLimits[cost]];
    },
    background,
    families: anonymous.families,
  };
}
