import { createHash } from 'node:crypto';
import type { Config } from '../config/index.ts';
import { createLru, createSemaphore, isDomainError, unavailable } from '../kernel/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import { createOutbound, isListed } from '../outbound/index.ts';
import type { ResolveName } from '../outbound/index.ts';
import { InstanceKey } from '../sealing/index.ts';
import { newCounts } from './counts.ts';
import type { ImageProxyCounts, ImageResult } from './counts.ts';
import { createDiskCache } from './disk-cache.ts';
import type { CachedFile } from './disk-cache.ts';
import { fetchImage, isGuardRefusal } from './fetch-image.ts';
import type { ImageValidators } from './fetch-image.ts';
import { imageProxyLimits } from './limits.ts';
import type { ImageProxyLimits } from './limits.ts';
import type { ProxiedType } from './proxied-type.ts';
import { readAddress, signAddress } from './signed-address.ts';
import type { ImageScope, SignedImage } from './signed-address.ts';
import { createTokenBuckets } from './token-buckets.ts';

export interface ImageProxyOptions {
  config: Pick<Config, 'caFile' | 'repositories'>;
  keyFile: string;
  /** The folder of the cache. */
  folder: string;
  /** Version of the program, for the User-Agent. */
  version: string;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** The name resolver; tests have their own. */
  resolve?: ResolveName;
  limits?: Partial<ImageProxyLimits>;
}

/** An image as it is sent to a browser. */
export interface ProxiedImage {
  type: ProxiedType;
  bytes: Buffer;
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
   * signed, and for an image that cannot be had, now or by any of its rules. Refuses `image_proxy_busy`.
   */
  open(signature: string, encoded: string): Promise<ProxiedImage | null>;
  counts(): ImageProxyCounts;
  load(): { files: number; bytes: number };
  /** For a scheduled task. */
  sweep(): Promise<void>;
  stop(): void;
}

interface Meta extends ImageValidators {
  type: ProxiedType;
  freshUntil: number;
}

type Cached = CachedFile<Meta>;

const tooBusy = () =>
  unavailable('image_proxy_busy', 'Too many images are being fetched. Try again soon.', { retryAfterSeconds: 10 });

/**
 * Fetches the images of other hosts that documents show, so that readers connect to nobody but this server: signed
 * addresses only, at addresses that are public when the connection is made, within limits of size, time, redirects and
 * type, by host and by repository. One address is fetched once at a time.
 */
export function createImageProxy(options: ImageProxyOptions): ImageProxy {
  const { config, clock, random, logger, version } = options;
  const limits = { ...imageProxyLimits, ...options.limits };
  const key = new InstanceKey(options.keyFile, random, 'image-proxy');
  const isNamed = (url: URL): boolean => isListed(url, config.repositories.remoteImageHosts);
  const outbound = createOutbound({
    isAllowed: (url) => isNamed(url) || url.port === '' || limits.ports.includes(Number(url.port)),
    devAllowInsecure: false,
    allowsPrivate: isNamed,
    allowsHttp: () => true,
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
  const running = new Map<string, Promise<Cached | null>>();
  const places = createSemaphore({
    limit: limits.running,
    limitPerKey: { host: limits.perHost, repository: limits.perRepository },
    queue: limits.queued,
    waitMs: limits.waitMs,
    refusal: tooBusy,
  });
  const hosts = createTokenBuckets(clock, 'image hosts', limits.hostRate);
  const fetchBudget = createTokenBuckets(clock, 'image budgets', limits.repositoryRate);
  const byteBudget = createTokenBuckets(clock, 'image byte budgets', limits.repositoryBytes);
  /** Requests that wait for a fetch. */
  let waiting = 0;

  const count = (result: ImageResult): void => void (counts[result] += 1);

  async function store(at: string, { url }: SignedImage, known: Cached | null): Promise<Cached> {
    const fetched = await fetchImage(outbound, url, {
      known: known?.meta ?? null,
      maxBytes: limits.maxBytes,
      deadlineMs: 2 * limits.totalMs,
      userAgent: `Hearth/${version} (image proxy)`,
    });
    const freshUntil = clock.now() + fetched.freshMs;
    count(fetched.kind === 'image' ? 'fetched' : 'revalidated');
    const { etag, lastModified, type } = fetched.kind === 'image' ? fetched : known!.meta;
    const file = {
      meta: { type, etag, lastModified, freshUntil },
      bytes: fetched.kind === 'image' ? fetched.bytes : known!.bytes,
    };
    await cache.write(at, file);
    return file;
  }

  /** Fetches what is not there or no longer fresh; an image that was there stays when its host fails. */
  async function refresh(at: string, image: SignedImage, known: Cached | null): Promise<Cached | null> {
    const host = URL.parse(image.url)?.host ?? '';
    if ((failures.get(at) ?? 0) > clock.now()) return known;
    // What is over a budget has not failed: the next request may try again.
    if (!fetchBudget.take(image.repositoryId) || !byteBudget.take(image.repositoryId, 0) || !hosts.take(host))
      return throwUnless(known);
    try {
      return await places.run(
        async () => {
          const file = await store(at, image, known);
          byteBudget.charge(image.repositoryId, file.bytes.length);
          return file;
        },
        { host, repository: image.repositoryId },
      );
    } catch (error) {
      if (isDomainError(error) && error.reason === 'image_proxy_busy') return throwUnless(known);
      count(isGuardRefusal(error) ? 'refused' : 'failed');
      logger.debug('image_proxy.failed', { host, repositoryId: image.repositoryId, reason: reasonOf(error) });
      failures.set(at, clock.now() + limits.failureMs);
      return known;
    }
  }

  function throwUnless(known: Cached | null): Cached {
    if (known !== null) return known;
    throw tooBusy();
  }

  async function fetchOnce(at: string, image: SignedImage, known: Cached | null): Promise<Cached | null> {
    let fetching = running.get(at);
    if (fetching === undefined) {
      fetching = refresh(at, image, known).finally(() => running.delete(at));
      running.set(at, fetching);
    }
    if (waiting >= limits.waiting) return throwUnless(known);
    waiting += 1;
    try {
      return await fetching;
    } finally {
      waiting -= 1;
    }
  }

  return {
    sign: (scope, url) => signAddress(key, scope, url),
    async open(signature, encoded) {
      const image = readAddress(key, signature, encoded);
      if (image === null) return null;
      const at = cacheKey(image);
      const known = await cache.read(at);
      const isFresh = known !== null && known.meta.freshUntil > clock.now();
      let file: Cached | null;
      try {
        file = isFresh ? known : await fetchOnce(at, image, known);
      } catch (error) {
        if (isDomainError(error) && error.reason === 'image_proxy_busy') count('busy');
        throw error;
      }
      if (isFresh) count('cached');
      if (file === null) return null;
      const leftMs = file.meta.freshUntil - clock.now();
      if (leftMs <= 0) count('stale');
      return {
        type: file.meta.type,
        bytes: file.bytes,
        etag: `"${createHash('sha256').update(file.bytes).digest('base64url').slice(0, 22)}"`,
        maxAgeSeconds: Math.max(60, Math.floor(leftMs / 1000)),
        isPublic: image.isPublic,
      };
    },
    counts: () => ({ ...counts }),
    load: cache.load,
    sweep: cache.sweep,
    stop: () => outbound.close(),
  };
}

/** Private repositories share nothing with others: that an image is cached says that a document was read. */
const cacheKey = ({ url, repositoryId, isPublic }: SignedImage): string =>
  createHash('sha256')
    .update(JSON.stringify([isPublic ? '' : repositoryId, url]))
    .digest('hex');

const reasonOf = (error: unknown): string => (isDomainError(error) ? error.reason : String(error));
