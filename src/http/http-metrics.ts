import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { GitOperation, GitTraffic } from '../git/index.ts';
import { createHistogram } from '../kernel/index.ts';
import type { Clock, Histogram } from '../kernel/index.ts';
import type { Exchange } from './context.ts';
import { histogramSamples } from './prometheus-text.ts';
import type { MetricFamily } from './prometheus-text.ts';

/** Counts of HTTP requests: by the route pattern, never by the URL (security K04). */
export interface HttpMetrics {
  /** Must be called when a request begins. */
  count(exchange: Pick<Exchange, 'req' | 'res' | 'state'>): void;
  families(): MetricFamily[];
}

/** Upper bounds in seconds. */
const buckets = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30];

const gitService = /git-(upload-pack|receive-pack)$/;

/**
 * @param git also counts requests for git
 */
export function createHttpMetrics(clock: Clock, git: Pick<GitTraffic, 'record'>): HttpMetrics {
  const series = new Map<string, { labels: { route: string; status: string }; seconds: Histogram }>();
  /**
   * Bytes received by a connection when its last request ended: the head of a request is read before its handler runs.
   */
  const readBefore = new WeakMap<Socket, number>();
  let inFlight = 0;

  function note(
    route: string,
    res: ServerResponse,
    took: number,
    moved: { receivedBytes: number; sentBytes: number },
  ): void {
    const status = `${Math.floor(res.statusCode / 100)}xx`;
    const key = `${route} ${status}`;
    let known = series.get(key);
    if (known === undefined)
      series.set(key, (known = { labels: { route, status }, seconds: createHistogram(buckets) }));
    known.seconds.observe(took);
    const service = gitService.exec(route)?.[1] as GitOperation['service'] | undefined;
    if (service !== undefined)
      git.record({ service, transport: 'http', result: resultOf(res) }, { seconds: took, ...moved });
  }

  return {
    count({ req, res, state }) {
      const startedAt = clock.now();
      const { socket } = req;
      const writtenBefore = socket.bytesWritten;
      inFlight += 1;
      res.once('close', () => {
        inFlight -= 1;
        const { bytesRead } = socket;
        const moved = {
          receivedBytes: bytesRead - (readBefore.get(socket) ?? 0),
          sentBytes: socket.bytesWritten - writtenBefore,
        };
        readBefore.set(socket, bytesRead);
        note(state.routePath ?? 'none', res, (clock.now() - startedAt) / 1000, moved);
      });
    },
    families() {
      const known = [...series.values()];
      return [
        {
          name: 'http_requests_total',
          type: 'counter',
          help: 'Requests answered.',
          samples: known.map(({ labels, seconds }) => ({ labels, value: seconds.count })),
        },
        {
          name: 'http_request_seconds',
          type: 'histogram',
          help: 'How long requests took.',
          samples: known.flatMap(({ labels, seconds }) => histogramSamples(labels, seconds)),
        },
        { name: 'http_in_flight', type: 'gauge', help: 'Requests being answered now.', samples: [{ value: inFlight }] },
      ];
    },
  };
}

function resultOf({ statusCode, writableFinished }: ServerResponse): GitOperation['result'] {
  if (statusCode >= 500 && statusCode !== 503) return 'failed';
  if (statusCode >= 400) return 'refused';
  return writableFinished ? 'ok' : 'left';
}
