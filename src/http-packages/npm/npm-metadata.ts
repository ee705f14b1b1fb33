import { formatOf, packageNotFound } from '../../packages/index.ts';
import type { FoundPackage, PackageVersionRow } from '../../packages/index.ts';

/** Metadata of a version of an npm package. */
interface NpmMetadata {
  /** `package.json` as the publisher sent it, without `dist`. */
  manifest: Record<string, unknown>;
  readme: string;
  deprecated: string | null;
}

export const readPackument = ({ metadata }: Pick<PackageVersionRow, 'metadata'>): NpmMetadata =>
  JSON.parse(metadata) as NpmMetadata;

/** Throws `package_not_found` for an invalid name. */
export function parseName(name: string): string {
  try {
    formatOf('npm').nameKey(name);
  } catch {
    throw packageNotFound();
  }
  return name;
}

/** Revision of the package, which every change changes; clients send it back when they unpublish. */
export const revisionOf = ({ package: { updatedAt, versions } }: FoundPackage): string => `${versions}-${updatedAt}`;

/** `app-1.0.0.tgz` for `@scope/app`. */
export const tarballName = (name: string, version: string): string => `${name.replace(/^.*\//, '')}-${version}.tgz`;

/** Tags must not look like versions. */
export const isTag = (text: string): boolean => /^(?!v?\d+\.)[A-Za-z0-9._-]{1,128}$/.test(text);
