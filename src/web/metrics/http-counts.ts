import type { Clock } from '../../kernel/index.ts';
import type { Exchange } from '../context.ts';
import { createCounter } from './registry.ts';
import type { Family } from './registry.ts';

/** What was asked over HTTP: by the pattern of the route, never by its address (security K04). */
export interface HttpCounts {
  /** To be called when a request begins. */
  count(exchange: Pick<Exchange, 'res' | 'state'>): void;
  families(): Family[];
}

/** Upper bounds in seconds. */
const buckets = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30];

export function createHttpCounts(clock: Clock): HttpCounts {
  const requests = createCounter();
  const seconds = createCounter();
  const git = createCounter();
  const atMost = buckets.map(() => 0);
  let [all, sum, inFlight] = [0, 0, 0];

  function note(route: string, status: number, took: number): void {
    const result = `${Math.floor(status / 100)}xx`;
    requests.add({ route, status: result }, 1);
    seconds.add({ route }, took);
    const service = /git-(upload|receive)-pack$/.exec(route)?.[0];
    if (service !== undefined) git.add({ service, transport: 'http', result: status < 400 ? 'ok' : 'refused' }, 1);
    all += 1;
    sum += took;
    for (const [at, bound] of buckets.entries()) if (took <= bound) atMost[at]! += 1;
  }

  return {
    count({ res, state }) {
      const startedAt = clock.now();
      inFlight += 1;
      res.once('close', () => {
        inFlight -= 1;
        note(state.routePath ?? 'none', res.statusCode, (clock.now() - startedAt) / 1000);
      });
    },
    families: () => [
      { name: 'http_requests_total', type: 'counter', help: 'Requests answered.', samples: requests.samples() },
      { name: 'http_route_seconds_total', type: 'counter', help: 'Time spent on requests, by route.', samples: seconds.samples() },
      {
        name: 'http_request_seconds_bucket', type: 'counter', help: 'Requests that took at most so many seconds.',
        samples: [...buckets.map((bound, at) => ({ labels: { le: String(bound) }, value: atMost[at]! })), { labels: { le: '+Inf' }, value: all }],
      },
      { name: 'http_request_seconds_sum', type: 'counter', help: 'Seconds of all requests.', samples: [{ value: sum }] },
      { name: 'http_request_seconds_count', type: 'counter', help: 'All requests.', samples: [{ value: all }] },
      { name: 'http_in_flight', type: 'gauge', help: 'Requests being answered now.', samples: [{ value: inFlight }] },
      { name: 'git_operations_total', type: 'counter', help: 'Git requests over HTTP.', samples: git.samples() },
    ],
  };
}
