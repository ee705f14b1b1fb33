import type { WebDeps } from '../web/index.ts';
import type { MetricFamily, Sample } from '../http/index.ts';

const byResult = (counts: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(counts).map(([result, value]) => ({ labels: { result }, value }));

/**
 * What goes out to other servers and comes in from them; nothing while federation is off, and no label for a server.
 */
export async function collectFederationMetrics({ federation }: Pick<WebDeps, 'federation'>): Promise<MetricFamily[]> {
  if (!federation.isOperational) return [];
  const { attempts, attemptSeconds, attemptsInFlight, inbox, keyFetches } = federation.measures;
  const one = (value: number): Sample[] => [{ value }];
  return [
    {
      name: 'delivery_attempts_total',
      type: 'counter',
      help: 'Attempts to deliver to other servers.',
      samples: byResult(attempts),
    },
    {
      name: 'delivery_seconds_total',
      type: 'counter',
      help: 'Time that these attempts took.',
      samples: one(attemptSeconds),
    },
    { name: 'delivery_in_flight', type: 'gauge', help: 'Deliveries in progress.', samples: one(attemptsInFlight) },
    {
      name: 'federation_dead_hosts',
      type: 'gauge',
      help: 'Servers that do not answer.',
      samples: one(await federation.countDeadHosts()),
    },
    { name: 'federation_inbox_total', type: 'counter', help: 'Activities that came in.', samples: byResult(inbox) },
    {
      name: 'federation_key_fetch_total',
      type: 'counter',
      help: 'Keys that other servers were asked for.',
      samples: byResult(keyFetches),
    },
  ];
}
