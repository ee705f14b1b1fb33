import { packagePath } from '../../gitea-shapes/index.ts';
import { notFound } from '../../kernel/index.ts';
import { formatNames } from '../../packages/index.ts';
import type { PackageAct } from '../../access/index.ts';
import type { FoundPackage } from '../../packages/index.ts';
import type { RequestContext } from '../app/request-context.ts';
import type { PackagesDeps } from './deps.ts';

export const packagesUrl = (owner: string): string => `/packages/${encodeURIComponent(owner)}`;

type At = Pick<FoundPackage, 'owner' | 'package'>;

export const packageUrl = ({ owner, package: row }: At): string => packagePath(owner.handle, row);
export const versionUrl = ({ owner, package: row }: At, version: string): string =>
  packagePath(owner.handle, row, version);
export const fileUrl = (at: At, version: string, file: string): string =>
  `${versionUrl(at, version)}/files/${encodeURIComponent(file)}`;

/** The package that a URL names. Throws `package_not_found`, also where packages are off. */
export async function packageOf(
  { params, viewer }: Pick<RequestContext, 'params' | 'viewer'>,
  { packages }: Pick<PackagesDeps, 'packages'>,
  act: PackageAct = 'read',
): Promise<FoundPackage> {
  const { owner = '', format: named = '', package: name = '' } = params;
  const format = formatNames.find((one) => one === (named === 'container' ? 'oci' : named));
  const { settings } = packages;
  if (format === undefined || !settings.enabled) throw notFound();
  return packages.find(viewer, { owner, format, name }, act);
}
