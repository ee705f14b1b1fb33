import type { BucketRate } from '../kernel/index.ts';

const mebibyte = 1024 * 1024;

export interface ImageProxyLimits {
  /** Size of one image in bytes. */
  maxBytes: number;
  connectMs: number;
  /** One request to another host, whole; an image may take a redirect or two more. */
  totalMs: number;
  /** Fetches at a time: in all, from one host, for the documents of one repository. */
  running: number;
  perHost: number;
  perRepository: number;
  /** Fetches that wait for a place, and for how long. */
  queued: number;
  waitMs: number;
  /** Requests of browsers that wait for a fetch: fewer than the places of their cost class. */
  waiting: number;
  /** How long an image that could not be had is not asked for again. */
  failureMs: number;
  /** Ports besides 80 and 443. */
  ports: readonly number[];
  /** Fetches from one host. */
  hostRate: BucketRate;
  /** Fetches, and bytes fetched, for the documents of one repository. */
  repositoryRate: BucketRate;
  repositoryBytes: BucketRate;
}

export const imageProxyLimits: ImageProxyLimits = {
  // The largest that GitHub's own proxy passes on.
  maxBytes: 5 * mebibyte,
  connectMs: 3_000,
  totalMs: 6_000,
  running: 16,
  perHost: 4,
  perRepository: 8,
  queued: 100,
  waitMs: 8_000,
  waiting: 128,
  failureMs: 5 * 60_000,
  ports: [8080, 8443],
  hostRate: { capacity: 120, perSecond: 120 / 60 },
  repositoryRate: { capacity: 400, perSecond: 400 / 3600 },
  repositoryBytes: { capacity: 100 * mebibyte, perSecond: (100 * mebibyte) / 3600 },
};
