import { repositoryUrl, ownerUrl } from '../../http/index.ts';
import { formatOf } from '../../packages/index.ts';
import type { FoundPackage } from '../../packages/index.ts';
import { viewNumber } from '../app/format-numbers.ts';
import { viewName } from '../app/printable-names.ts';
import type { RequestContext } from '../app/request-context.ts';
import type { PackagesDeps } from './deps.ts';
import { packagesUrl, packageUrl } from './package-urls.ts';

/** The header of every page of a package, and the permissions of this viewer. */
interface PackageHeadView {
  name: string;
  format: string;
  url: string;
  owner: string;
  ownerUrl: string;
  /** URL of all packages of the owner. */
  listUrl: string;
  isPrivate: boolean;
  versions: string;
  repository: { name: string; url: string } | null;
  mayDelete: boolean;
  mayManage: boolean;
}

export async function viewPackageHead(
  { viewer }: Pick<RequestContext, 'viewer'>,
  { packages, repositories }: Pick<PackagesDeps, 'packages' | 'repositories'>,
  found: FoundPackage,
): Promise<PackageHeadView> {
  const { owner, package: row, facts } = found;
  const id = facts.repository === null ? null : row.repositoryId;
  const located = id === null ? undefined : (await repositories.locate([id])).get(id);
  const at = located && { owner: located.owner.handle, name: located.repository.name };
  return {
    name: viewName(row.name),
    format: formatOf(row.format).title,
    url: packageUrl(found),
    owner: owner.handle,
    ownerUrl: ownerUrl(owner),
    listUrl: packagesUrl(owner.handle),
    isPrivate: (facts.repository ?? facts).visibility === 'PRIVATE',
    versions: viewNumber(row.versions),
    repository: at === undefined ? null : { name: `${at.owner}/${at.name}`, url: repositoryUrl(at) },
    mayDelete: viewer.kind === 'person' && packages.mayOn(viewer, found, 'delete'),
    mayManage: viewer.kind === 'person' && packages.mayOn(viewer, found, 'manage'),
  };
}
