import type { RequestListener } from 'node:http';
import type { Clock } from '../../kernel/index.ts';
import type { Exchange, Middleware, State } from '../context.ts';
import type { MetricFamily } from '../prometheus-text.ts';
import { createAnonymousLimits } from './anonymous-limits.ts';
import { createBackgroundPriority } from '../background-priority.ts';
import type { BackgroundPriority } from '../background-priority.ts';
import { createClassLimits } from './request-classes.ts';
import type { CostClass } from './request-classes.ts';
import { createFairQueue } from './fair-queue.ts';
import { delayRefusals } from './delay-refusals.ts';

/**
 * Admission: decides when a request begins, and which requests are refused under overload.
 *
 * Clients and their keys
 * - signed in: a user whose session cookie or token was valid the last time; the key is its digest.
 * - anonymous: all other clients, including those with unchecked credentials. All share one queue;
 *   the key of limits is the address prefix (an IPv4 address, 64 bits of an IPv6 address).
 * - git: passes the fair queue by the same keys; `git` limits the processes behind it by repository,
 *   user and address, and queues clients there (503, Retry-After 5).
 * - runner: skips all stages. Its calls are authenticated before they are read, hold no thread
 *   while they wait for a job, and are limited by `http-runner`.
 * Before all stages, `connection-limiter.ts` limits connections; `accounts` limits sign-ins (429).
 *
 * Stages of a request, in order
 * 1. Fair queue (`fair-queue.ts`): 8 requests of one client begin per turn of the event loop; the
 *    others wait. Nothing is refused.
 * 2. Anonymous limits (`anonymous-limits.ts`), for clients that are not signed in:
 *    the CPU budget of the address (30 s, refilled by 0.5 s per second) pays for git, threads and long responses.
 *    If it is empty, the response is 429 with Retry-After until it is refilled. Then the request takes one of the slots
 *    for anonymous clients: 12 for git, 16 for rows, 5 for searches, of which one address has two thirds;
 *    a thousand wait, 250 of one address. A full queue or 10 s of waiting is 503 with Retry-After 5.
 * 3. Class limits (`request-classes.ts`): limits of concurrent requests per cost class, over all
 *    clients; above them 503 with Retry-After 2.
 * 4. Background priority (`background-priority.ts`): steps of a search wait, at most 10 ms each, while
 *    another response is being rendered.
 * 5. Refusals to anonymous clients are sent 5 ms apart after the first 50, at most 2 s late
 *    (`delay-refusals.ts`): a client that retries at once costs only a connection.
 *
 * Refused first are anonymous searches and pages of git without a slot, then addresses with an empty budget, then
 * requests above a class limit. Signed-in clients only meet the class limits, and never wait for anonymous clients.
 * `bench/overload.ts` measures the effect on them.
 */
export interface Admission {
  /** Step 1, the stage for all clients but runners. */
  enqueue(next: RequestListener): RequestListener;
  /**
   * Must be called when a request begins: records whether its credentials were valid, and which request background work
   * waits for.
   */
  onRequest(exchange: Pick<Exchange, 'req' | 'res' | 'state'>): void;
  /** Step 5, the outermost middleware. */
  delayRefusals: Middleware;
  /**
   * Steps 2 and 3 for a route.
   * @param identify sets `state.identity`; without it only the class limit applies. If anonymous clients have limits it
   *   runs before them, otherwise a request is limited before it is identified.
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
