import { formatOf, packageNotFound } from '../../packages/index.ts';
import type { FoundPackage, PackageVersionRow } from '../../packages/index.ts';

/** What a version of an npm package has as its metadata. */
interface NpmMetadata {
  /** `package.json` as the publisher sent it, without `dist`. */
  manifest: Record<string, unknown>;
  readme: string;
  deprecated: string | null;
}

export const readPackument = ({ metadata }: Pick<PackageVersionRow, 'metadata'>): NpmMetadata =>
  JSON.parse(metadata) as NpmMetadata;

/** Refuses `package_not_found` for what is no name. */
export function parseName(name: string): string {
  try {
    formatOf('npm').nameKey(name);
  } catch {
    throw packageNotFound();
  }
  return name;
}

/** What changes with every change of the package; clients send it back when they unpublish. */
export const revisionOf = ({ package: { updatedAt, versions } }: FoundPackage): string => `${versions}-${updatedAt}`;

/** `app-1.0.0.tgz` of `@scope/app`. */
export const tarballName = (name: string, version: string): string => `${name.replace(/^.*\//, '')}-${version}.tgz`;

/** No tag looks like a version. */
export const isTag = (text: string): boolean => /^(?!v?\d+\.)[A-Za-z0-9._-]{1,128}$/.test(text);
