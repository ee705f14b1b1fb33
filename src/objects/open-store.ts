import type { Config } from '../config/index.ts';
import { invalid } from '../kernel/index.ts';
import type { Clock } from '../kernel/index.ts';
import { createOutbound } from '../outbound/index.ts';
import { createFolderStore } from './folder-store.ts';
import type { FolderStoreOptions } from './folder-store.ts';
import { createIncoming } from './incoming.ts';
import type { ObjectStore } from './object-store.ts';
import { createStoreMetrics } from './store-metrics.ts';
import type { StoreStatistics } from './store-metrics.ts';

export interface StoreOptions extends FolderStoreOptions {
  config: Pick<Config, 'baseUrl' | 'objects' | 'caFile'>;
  clock: Clock;
}

export interface OpenedStore {
  store: ObjectStore;
  /** Metrics of requests to a bucket; null for a folder. */
  statistics(): StoreStatistics | null;
  /** Closes idle connections. */
  close(): void;
}

/** The store selected by the setting `objects.store`. */
export const openStore = (options: StoreOptions): Promise<OpenedStore> =>
  openStoreAs(options, options.config.objects.store, { keepsRecent: true });

/**
 * Either store, whichever the settings select: for copies between them. Throws `object_store_not_set`.
 * @param keepsRecent whether to keep local copies of uploads to a bucket for an hour; a copy between stores still has
 *   its source
 */
export async function openStoreAs(
  options: StoreOptions,
  place: ObjectStore['place'],
  { keepsRecent = false } = {},
): Promise<OpenedStore> {
  if (place === 'folder') return { store: createFolderStore(options), statistics: () => null, close: () => undefined };
  const { config, clock, random, logger } = options;
  const { endpoint, bucket, prefix, privateEndpoint, ...settings } = config.objects;
  if (endpoint === null || bucket === null)
    throw invalid(
      'object_store_not_set',
      'No bucket is configured: set objects.endpoint, objects.bucket and an access key.',
    );
  const { objectUrl, createCredentials, createRecentUploads, createS3Client, createS3Store } = await import(
    './s3/index.ts'
  );
  const target = { ...settings, endpoint, bucket };
  const { host } = objectUrl(target, '');
  const outbound = createOutbound({
    // The only host named in the settings.
    isAllowed: (url) => url.host === host,
    devAllowInsecure: false,
    allowsPrivate: () => privateEndpoint,
    allowsHttp: () => privateEndpoint,
    baseUrl: config.baseUrl,
    caFile: config.caFile,
    limits: { connectionsPerHost: settings.connections },
  });
  const metrics = createStoreMetrics();
  const credentials = createCredentials(settings, clock.now);
  const client = createS3Client({ settings: target, credentials, outbound, metrics, clock, random, logger });
  const store = createS3Store({
    client,
    bucket,
    prefix: prefix === null ? '' : `${prefix}/`,
    partBytes: settings.partSizeBytes,
    incoming: createIncoming(options),
    recent: keepsRecent ? createRecentUploads(options) : null,
    metrics,
    clock,
    random,
    logger,
  });
  return { store, statistics: metrics.snapshot, close: outbound.close };
}

/** Description of the configured bucket, without keys. */
export const describeStore = ({ endpoint, bucket, prefix }: Config['objects']): string =>
  `${endpoint}/${bucket}${prefix === null ? '' : `/${prefix}`}`;
