import type { Route } from '../app/route.ts';
import { changePackage, deleteVersion, restoreVersion, showPackageSettings } from './package-settings.page.ts';
import { showOwnerPackages, showRepositoryPackages } from './package-list.page.ts';
import { downloadPackageFile, showPackage, showVersion } from './package.page.ts';

const at = '/packages/:owner/-/:format/:package';
const version = `${at}/:version` as const;
const read = { method: 'GET', access: 'public', cost: 'rows' } as const;
const change = { method: 'POST', access: 'signed-in', cost: 'rows' } as const;

/** Package pages for browsers. Package managers use the URLs beside these, at `/packages/{owner}/{format}/`. */
export const packagesRoutes: readonly Route[] = [
  { ...read, path: '/packages/:owner', page: showOwnerPackages },
  {
    method: 'GET',
    path: '/repos/:owner/:name/packages',
    access: 'repository:read',
    cost: 'rows',
    page: showRepositoryPackages,
  },
  { ...read, path: at, page: showPackage },
  { method: 'GET', path: `${at}/-/settings`, access: 'signed-in', cost: 'rows', page: showPackageSettings },
  { ...change, path: `${at}/-/settings`, page: changePackage },
  { ...read, path: version, page: showVersion },
  { ...read, path: `${version}/files/:file`, cost: 'transfer', page: downloadPackageFile },
  { ...change, path: `${version}/delete`, page: deleteVersion },
  { ...change, path: `${version}/restore`, page: restoreVersion },
];
