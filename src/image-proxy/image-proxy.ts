import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Config } from '../config/index.ts';
import { createLru, createSemaphore, createTokenBuckets, isDomainError, unavailable } from '../kernel/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import { createOutbound, isAllowedHost } from '../outbound/index.ts';
import type { ResolveName } from '../outbound/index.ts';
import { InstanceKey } from '../sealing/index.ts';
import { newCounts } from './metrics.ts';
import type { ImageProxyCounts, ImageResult } from './metrics.ts';
import { createDiskCache } from './disk-cache.ts';
import { fetchImage, isGuardRefusal } from './fetch-image.ts';
import type { ImageValidators } from './fetch-image.ts';
import { imageProxyLimits } from './limits.ts';
import type { ImageProxyLimits } from './limits.ts';
import type { ProxiedType } from './proxied-type.ts';
import { readSignedImageUrl, signImageUrl } from './signed-url.ts';
import type { ImageScope, SignedImage } from './signed-url.ts';

export interface ImageProxyOptions {
  config: Pick<Config, 'baseUrl' | 'caFile' | 'repositories'>;
  keyFile: string;
  /** The folder of the cache. */
  folder: string;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** The name resolver; tests have their own. */
  resolve?: ResolveName;
  limits?: Partial<ImageProxyLimits>;
}

/** An image as it is sent to a browser. */
interface ProxiedImage {
  type: ProxiedType;
  /** Size of the content. */
  bytes: number;
  /** The content; it has to be read or destroyed. */
  stream(): Readable;
  /** A digest of the bytes, quoted. */
  etag: string;
  /** How long a browser may keep it, in seconds. */
  maxAgeSeconds: number;
  isPublic: boolean;
}

export interface ImageProxy {
  /** `{signature}/{encoded}` of an image of another host; null for a URL that is not shown. */
  sign(scope: ImageScope, url: string): string | null;
  /**
   * The image of a signed address, from the cache or from its host. Null for an address that this server has not
   * signed, and for an image that cannot be had, now or by any of its rules. Throws `image_proxy_busy`.
   */
  open(signature: string, encoded: string): Promise<ProxiedImage | null>;
  counts(): ImageProxyCounts;
  load(): { files: number; bytes: number };
  /** For a scheduled task. */
  evict(): Promise<void>;
  stop(): void;
}

interface Meta extends ImageValidators {
  type: ProxiedType;
  freshUntil: number;
  digest: string;
}

const tooBusy = () =>
  unavailable('image_proxy_busy', 'Too many images are being fetched. Try again soon.', { retryAfterSeconds: 10 });

/**
 * Fetches the images of other hosts that documents show, so that readers connect to no server but this one: signed
 * addresses only, at addresses that are public when the connection is made, within limits of size, time, redirects and
 * type, by host and by repository. One address is fetched once at a time.
 */
export function createImageProxy(options: ImageProxyOptions): ImageProxy {
  const { config, clock, random, logger } = options;
  const limits = { ...imageProxyLimits, ...options.limits };
  const key = new InstanceKey(options.keyFile, random, 'image-proxy');
  const isNamed = (url: URL): boolean => isAllowedHost(url, config.repositories.remoteImageHosts);
  const outbound = createOutbound({
    isAllowed: (url) => isNamed(url) || url.port === '' || limits.ports.includes(Number(url.port)),
    devAllowInsecure: false,
    allowsPrivate: isNamed,
    allowsHttp: () => true,
    baseUrl: config.baseUrl,
    caFile: config.caFile,
    ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
    limits: { connectionsPerHost: limits.perHost, totalMs: limits.totalMs, connectMs: limits.connectMs },
  });
  const cache = createDiskCache<Meta>({
    folder: options.folder,
    maxBytes: config.repositories.remoteImageCacheBytes,
    random,
    now: () => clock.now(),
  });
  const counts = newCounts();
  /** Images that could not be had, until they are tried again. */
  const failures = createLru<string, number>({ name: 'failed images', maxWeight: 20_000 });
  const running = new Map<string, Promise<void>>();
  const places = createSemaphore({
    limit: limits.running,
    limitPerKey: { host: limits.perHost, repository: limits.perRepository },
    queue: limits.queued,
    waitMs: limits.waitMs,
    refusal: tooBusy,
  });
  const hosts = createTokenBuckets(clock, { name: 'image hosts', ...limits.hostRate });
  const fetchBudget = createTokenBuckets(clock, { name: 'image budgets', ...limits.repositoryRate });
  const byteBudget = createTokenBuckets(clock, { name: 'image byte budgets', ...limits.repositoryBytes });
  /** Requests that wait for a fetch. */
  let waiting = 0;

  const count = (result: ImageResult): void => void (counts[result] += 1);

  /** Fetches an image and writes it to the cache. Returns its size. */
  async function store(at: string, { url }: SignedImage, known: Meta | null): Promise<number> {
    const fetched = await fetchImage(outbound, url, {
      known,
      maxBytes: limits.maxBytes,
      deadlineMs: 2 * limits.totalMs,
    });
    const freshUntil = clock.now() + fetched.freshMs;
    if (fetched.kind === 'unchanged') {
      count('revalidated');
      await cache.updateMeta(at, { ...known!, freshUntil });
      return 0;
    }
    count('fetched');
    const { type, etag, lastModified, bytes } = fetched;
    const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
    await cache.write(at, { type, etag, lastModified, freshUntil, digest }, bytes);
    return bytes.length;
  }

  /** Fetches what is not there or no longer fresh; what is over a budget has not failed, and may be asked for again. */
  async function refresh(at: string, image: SignedImage, known: Meta | null): Promise<void> {
    const host = URL.parse(image.url)?.host ?? '';
    const { repositoryId } = image;
    if ((failures.get(at) ?? 0) > clock.now()) return;
    const wait = fetchBudget.take(repositoryId) ?? byteBudget.take(repositoryId, 0) ?? hosts.take(host);
    if (wait !== null) throw tooBusy();
    try {
      const fetch = async (): Promise<void> => byteBudget.charge(repositoryId, await store(at, image, known));
      await places.run(fetch, { host, repository: repositoryId });
    } catch (error) {
      if (isDomainError(error) && error.reason === 'image_proxy_busy') throw error;
      count(isGuardRefusal(error) ? 'refused' : 'failed');
      logger.debug('image_proxy.failed', { host, repositoryId, reason: reasonOf(error) });
      failures.set(at, clock.now() + limits.failureMs);
    }
  }

  /** One fetch of an address at a time, for all who wait. */
  async function refreshOnce(at: string, image: SignedImage, known: Meta | null): Promise<void> {
    if (waiting >= limits.waiting) throw tooBusy();
    waiting += 1;
    try {
      let fetching = running.get(at);
      if (fetching === undefined) {
        fetching = refresh(at, image, known).finally(() => running.delete(at));
        running.set(at, fetching);
      }
      await fetching;
    } finally {
      waiting -= 1;
    }
  }

  return {
    sign: (scope, url) => signImageUrl(key, scope, url),
    async open(signature, encoded) {
      const image = readSignedImageUrl(key, signature, encoded);
      if (image === null) return null;
      const at = cacheKey(image);
      let file = await cache.open(at);
      if (file !== null && file.meta.freshUntil > clock.now()) count('cached');
      else {
        await file?.close();
        const known = file?.meta ?? null;
        await refreshOnce(at, image, known).catch((error: unknown) => {
          // An image that was there is sent in the meantime.
          if (known !== null) return;
          count('busy');
          throw error;
        });
        file = await cache.open(at);
        if (file === null) return null;
        if (file.meta.freshUntil <= clock.now()) count('stale');
      }
      const { meta, bytes, stream } = file;
      const maxAgeSeconds = Math.max(60, Math.floor((meta.freshUntil - clock.now()) / 1000));
      return { type: meta.type, bytes, stream, etag: `"${meta.digest}"`, maxAgeSeconds, isPublic: image.isPublic };
    },
    counts: () => ({ ...counts }),
    load: cache.load,
    evict: cache.evict,
    stop: () => outbound.close(),
  };
}

/** Private repositories share nothing with others: that an image is cached says that a document was read. */
const cacheKey = ({ url, repositoryId, isPublic }: SignedImage): string =>
  createHash('sha256')
    .update(JSON.stringify([isPublic ? '' : repositoryId, url]))
    .digest('hex');

const reasonOf = (error: unknown): string => (isDomainError(error) ? error.reason : String(error));
