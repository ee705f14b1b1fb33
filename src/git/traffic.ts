import { createHistogram } from '../kernel/index.ts';
import type { Histogram } from '../kernel/index.ts';

/** A client's request to git, and the result. */
export interface GitOperation {
  service: 'upload-pack' | 'upload-archive' | 'receive-pack';
  transport: 'http' | 'ssh';
  /** `left`: the client disconnected before the end; `failed`: an error of git or the server. */
  result: 'ok' | 'refused' | 'failed' | 'left';
}

export interface GitTrafficSeries extends GitOperation {
  seconds: Histogram;
  receivedBytes: number;
  sentBytes: number;
}

/**
 * Counts client requests to git over all transports. The transports record them: they alone know the requests that they
 * reject.
 */
export interface GitTraffic {
  record(operation: GitOperation, measured: { seconds: number; receivedBytes: number; sentBytes: number }): void;
  series(): Iterable<Readonly<GitTrafficSeries>>;
}

/** Upper bounds in seconds. */
const buckets = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300];

export function createGitTraffic(): GitTraffic {
  const known = new Map<string, GitTrafficSeries>();
  return {
    record(operation, { seconds, receivedBytes, sentBytes }) {
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
