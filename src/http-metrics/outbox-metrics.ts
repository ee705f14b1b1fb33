import type { WebDeps } from '../web/index.ts';
import type { MetricFamily, Sample } from '../http/index.ts';

/** Attempts of every kind of outbox message since the program started: webhooks, mails and further ones. */
export function collectOutboxMetrics({ outbox }: Pick<WebDeps, 'outbox'>): MetricFamily[] {
  const kinds = [...outbox.metrics()];
  const samples = (value: (metrics: (typeof kinds)[number][1]) => number): Sample[] =>
    kinds.map(([kind, metrics]) => ({ labels: { kind }, value: value(metrics) }));
  return [
    {
      name: 'outbox_attempts_total',
      type: 'counter',
      help: 'Attempts to send messages of the outbox: delivered, failed for good, or to be retried.',
      samples: kinds.flatMap(([kind, { attempts }]) =>
        Object.entries(attempts).map(([result, value]) => ({ labels: { kind, result }, value })),
      ),
    },
    {
      name: 'outbox_attempt_seconds_total',
      type: 'counter',
      help: 'Time that these attempts took.',
      samples: samples(({ attemptSeconds }) => attemptSeconds),
    },
    {
      name: 'outbox_attempts_in_flight',
      type: 'gauge',
      help: 'Attempts in progress.',
      samples: samples(({ attemptsInFlight }) => attemptsInFlight),
    },
  ];
}
