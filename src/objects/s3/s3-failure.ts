import { unavailable } from '../../kernel/index.ts';
import type { DomainError } from '../../kernel/index.ts';

/** An error response of a store, or a missing response. */
export class S3Failure extends Error {
  /** 0 without a response. */
  readonly status: number;
  /** The store's name for it: `NoSuchBucket`; `Unreachable` without a response. */
  readonly code: string;

  constructor(status: number, code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'S3Failure';
    this.status = status;
    this.code = code;
  }

  get explanation(): string {
    return explainFailure(this);
  }
}

/** Error codes of a store, or of a bucket, that takes nothing more. */
const full = new Set(['InsufficientStorage', 'XMinioStorageFull', 'QuotaExceeded', 'XMinioAdminBucketQuotaExceeded']);

/** Error codes of temporary failures, or of content changed in transit. */
const passing = new Set([
  'SlowDown',
  'ServiceUnavailable',
  'InternalError',
  'RequestTimeout',
  'OperationAborted',
  'BadDigest',
  'XAmzContentSHA256Mismatch',
  'IncompleteBody',
  'Unreachable',
]);

export const isTransient = ({ status, code }: S3Failure): boolean =>
  status >= 500 ? status !== 501 : status === 429 || status === 408 || passing.has(code);

const words: Readonly<Record<string, string>> = {
  NoSuchBucket: 'the bucket does not exist (objects.bucket)',
  AccessDenied: 'the access key may not do this; it needs to read, write, delete and list (objects.access_key_id)',
  InvalidAccessKeyId: 'the access key is not known (objects.access_key_id)',
  SignatureDoesNotMatch: 'the secret does not belong to the access key (objects.secret_access_key)',
  AuthorizationHeaderMalformed: 'the region is another one (objects.region)',
  PermanentRedirect: 'the bucket is in another region (objects.region, objects.endpoint)',
  InsufficientStorage: 'the store has no room left',
  XMinioStorageFull: 'the store has no room left',
  QuotaExceeded: 'the bucket or the account has reached its quota',
  XMinioAdminBucketQuotaExceeded: 'the bucket or the account has reached its quota',
  RequestTimeTooSkewed: 'the clocks of this machine and of the store differ',
};

/** Message about a failure for administrators. */
export const explainFailure = ({ status, code, message }: S3Failure): string =>
  words[code] ?? (status === 0 ? message : `it answered ${status} ${code}${message === '' ? '' : `: ${message}`}`);

/**
 * Message for all other users: files are currently unavailable, or none is taken (`disk_full`). The cause is for the
 * log, the doctor and the commands.
 */
export const storeUnavailable = (failure: S3Failure): DomainError =>
  failure.status === 507 || full.has(failure.code)
    ? unavailable('disk_full', 'The file store is full. Nothing was stored.', {
        retryAfterSeconds: 60,
        cause: failure,
      })
    : unavailable('object_store_unavailable', 'The file store does not respond at the moment. Try again later.', {
        retryAfterSeconds: 30,
        cause: failure,
      });
