import type { WebDeps } from '../web/index.ts';
import { histogramSamples } from '../http/index.ts';
import type { MetricFamily } from '../http/index.ts';

/** Requests to the bucket of objects; nothing where objects are in a folder. */
export function collectObjectMetrics({ objectStatistics }: Pick<WebDeps, 'objectStatistics'>): MetricFamily[] {
  const statistics = objectStatistics();
  if (statistics === null) return [];
  const { verbs, bytesIn, bytesOut, damaged } = statistics;
  return [
    {
      name: 'object_requests_total',
      type: 'counter',
      help: 'Requests to the store of objects, and attempts that were made again.',
      samples: verbs.flatMap(({ verb, ok, failed, retried }) =>
        Object.entries({ ok, failed, retried }).map(([result, value]) => ({ labels: { verb, result }, value })),
      ),
    },
    {
      name: 'objects_seconds',
      type: 'histogram',
      help: 'Time until the store of objects answered, attempts included.',
      samples: verbs.flatMap(({ verb, seconds }) => histogramSamples({ verb }, seconds)),
    },
    {
      name: 'object_bytes_total',
      type: 'counter',
      help: 'Bytes of objects that were sent to the store, and that came from it.',
      samples: [
        { labels: { direction: 'in' }, value: bytesIn },
        { labels: { direction: 'out' }, value: bytesOut },
      ],
    },
    {
      name: 'objects_damaged_total',
      type: 'counter',
      help: 'Downloads from the store whose bytes were not those that were stored.',
      samples: [{ value: damaged }],
    },
  ];
}
