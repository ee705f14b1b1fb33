import { createHistogram } from '../kernel/index.ts';
import type { Histogram } from '../kernel/index.ts';

/** What a client asked of git, and what came of it. */
export interface GitOperation {
  service: 'upload-pack' | 'upload-archive' | 'receive-pack';
  transport: 'http' | 'ssh';
  /** `left`: the client was gone before the end; `failed`: git or the server was at fault. */
  result: 'ok' | 'refused' | 'failed' | 'left';
}

export interface GitTrafficSeries extends GitOperation {
  seconds: Histogram;
  receivedBytes: number;
  sentBytes: number;
}

/** Adds up what clients ask of git over all transports. The edges note it: they alone know of those they turn away. */
export interface GitTraffic {
  note(operation: GitOperation, measured: { seconds: number; receivedBytes: number; sentBytes: number }): void;
  series(): Iterable<Readonly<GitTrafficSeries>>;
}

/** Upper bounds in seconds. */
const buckets = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300];

export function createGitTraffic(): GitTraffic {
  const known = new Map<string, GitTrafficSeries>();
  return {
    note(operation, { seconds, receivedBytes, sentBytes }) {
      const { service, transport, result } = operation;
      const key = `${service} ${transport} ${result}`;
      let series = known.get(key);
      if (series === undefined)
        known.set(
          key,
          (series = { service, transport, result, seconds: createHistogram(buckets), receivedBytes: 0, sentBytes: 0 }),
        );
      series.seconds.observe(seconds);
      series.receivedBytes += receivedBytes;
      series.sentBytes += sentBytes;
    },
    series: () => known.values(),
  };
}
