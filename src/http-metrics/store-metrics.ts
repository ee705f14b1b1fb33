import { histogramSamples } from '../http/index.ts';
import type { MetricFamily } from '../http/index.ts';
import type { WebDeps } from '../web/index.ts';

/** Folders of repositories in the store, and work that servers divide among them; nothing where there is neither. */
export async function collectStoreMetrics({
  repositoryCache,
  leases,
}: Pick<WebDeps, 'repositoryCache' | 'leases'>): Promise<MetricFamily[]> {
  const held = await leases.held();
  const families: MetricFamily[] =
    held === null
      ? []
      : [
          {
            name: 'lease_age_seconds',
            type: 'gauge',
            help: 'Since when a server does work that one does at a time.',
            samples: held.map(({ work, ageMs }) => ({ labels: { lease: work }, value: ageMs / 1000 })),
          },
        ];
  const cache = repositoryCache();
  if (cache === null) return families;
  const { uses, seconds, fetchedBytes, evictions, refConflicts, bytes, limitBytes } = cache;
  const one = (name: string, type: 'counter' | 'gauge', help: string, value: number | null): MetricFamily[] =>
    value === null ? [] : [{ name, type, help, samples: [{ value }] }];
  return [
    ...families,
    {
      name: 'repository_fetches_total',
      type: 'counter',
      help: 'Uses of repositories in the store, by what was found of their folder on this server.',
      samples: Object.entries(uses).map(([result, value]) => ({ labels: { result }, value })),
    },
    {
      name: 'repository_fetch_seconds',
      type: 'histogram',
      help: 'How long it took to make a folder current that was not.',
      samples: histogramSamples({}, seconds),
    },
    ...one('repository_fetched_bytes_total', 'counter', 'Bytes of packs that came from the store.', fetchedBytes),
    ...one('cache_evictions_total', 'counter', 'Folders that were removed because of the limit.', evictions),
    ...one('cache_bytes', 'gauge', 'Size of the folders, when it was looked at last.', bytes),
    ...one('cache_limit_bytes', 'gauge', 'How large they may become.', limitBytes),
    ...one('ref_conflicts_total', 'counter', 'Changes of refs that others had moved meanwhile.', refConflicts),
  ];
}
