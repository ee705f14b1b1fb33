import type { PackageAct, PackageRefusal } from '../access/index.ts';
import { conflict, forbidden, invalid, notFound, readableSize, unauthenticated, unavailable } from '../kernel/index.ts';
import type { DomainError } from '../kernel/index.ts';

/** The only message for a package, version or file that is absent or hidden. */
export const packageNotFound = (): DomainError => notFound('package_not_found', 'There is no such package.');

/** Inside a package that the viewer can read. */
export const versionNotFound = (): DomainError =>
  notFound('package_version_not_found', 'This package has no such version, tag or file.');

/** For a write: the error is the same for hidden and absent packages. */
export const mayNotPublish = (): DomainError =>
  forbidden('package_denied', 'You cannot publish here, or the owner does not exist.');

export function errorOfRefusal(refusal: PackageRefusal, act: PackageAct): DomainError {
  switch (refusal) {
    case 'hidden':
      return act === 'read' ? packageNotFound() : mayNotPublish();
    case 'sign_in':
      return unauthenticated('credentials_needed', 'Authentication required.');
    case 'scope':
      return forbidden(
        'package_scope',
        act === 'manage'
          ? 'This token may not do that: it takes a token with admin access.'
          : 'This token may not do that: it takes write:package, or "permissions: packages: write" in a workflow that is trusted.',
      );
    case 'level':
      return mayNotPublish();
  }
}

export const packagesOff = (): DomainError => invalid('packages_off', 'Packages are disabled on this server.');

export const versionExists = (version: string): DomainError =>
  conflict('package_version_exists', `Version ${version} already exists; a published version is never replaced.`);

export const blobMissing = (digest: string): DomainError =>
  notFound('package_blob_missing', `${digest} is not here: it was never uploaded, or not completely.`);

export const blobDamaged = (): DomainError =>
  invalid('package_digest', 'The received content does not match its announced digest or size. Nothing was stored.');

export const uploadGone = (): DomainError =>
  unavailable('package_blob_gone', 'The upload has been removed. Try again.', { retryAfterSeconds: 1 });

export const packageFileTooLarge = (bytes: number): DomainError =>
  invalid('package_file_too_large', `A package file can have at most ${readableSize(bytes)} here.`);

export const overQuota = (quota: number): DomainError =>
  invalid('package_quota', `The packages of this owner may have ${readableSize(quota)}, and this does not fit.`);
