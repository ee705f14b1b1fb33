import type { GitTraffic, GitTrafficSeries } from '../git/index.ts';
import { histogramSamples } from '../http/index.ts';
import type { MetricFamily } from '../http/index.ts';

/** What clients asked of git over HTTP and SSH. Over HTTP one clone or push is several requests; over SSH it is one. */
export function collectGitMetrics(traffic: Pick<GitTraffic, 'series'>): MetricFamily[] {
  const series = [...traffic.series()];
  const labels = ({ service, transport, result }: GitTrafficSeries) => ({ service, transport, result });
  const bytes = (each: GitTrafficSeries) => [
    { labels: { ...labels(each), direction: 'received' }, value: each.receivedBytes },
    { labels: { ...labels(each), direction: 'sent' }, value: each.sentBytes },
  ];
  return [
    {
      name: 'git_operations_total',
      type: 'counter',
      help: 'What clients asked of git.',
      samples: series.map((each) => ({ labels: labels(each), value: each.seconds.count })),
    },
    {
      name: 'git_operation_seconds',
      type: 'histogram',
      help: 'How long that took, with any wait in line.',
      samples: series.flatMap((each) => histogramSamples(labels(each), each.seconds)),
    },
    { name: 'git_bytes_total', type: 'counter', help: 'Bytes that it moved.', samples: series.flatMap(bytes) },
  ];
}
