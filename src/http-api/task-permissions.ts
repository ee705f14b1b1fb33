import type { TaskUse } from '../access/index.ts';
import type { Operation, Tag } from './operation.ts';

/** Permissions that let a task call the operations of a subject; any one of them is enough. */
const byTag: { readonly [tag in Tag]?: readonly TaskUse[] } = {
  Contents: ['contents'],
  Pushes: ['contents'],
  Releases: ['contents'],
  Statuses: ['statuses'],
  Issues: ['issues'],
  'Issue comments': ['issues', 'pull-requests'],
  Labels: ['issues', 'pull-requests'],
  Milestones: ['issues', 'pull-requests'],
  'Pull requests': ['pull-requests'],
  Runs: ['actions'],
  Environments: ['actions'],
  Deployments: ['deployments'],
};

/** Exceptions for single operations; null for those that only users may call. */
const byId: { readonly [id: string]: readonly TaskUse[] | null } = {
  listRepositories: ['metadata'],
  getRepository: ['metadata'],
  listForks: ['metadata'],
  getVersion: ['metadata'],
  getUser: ['metadata'],
  getOrganisation: ['metadata'],
  // As on GitHub.
  dispatchEvent: ['contents'],
  getCommitStatus: ['statuses', 'contents'],
  listPackages: ['packages'],
  listPackageVersions: ['packages'],
  getLatestPackageVersion: ['packages'],
  getPackage: ['packages'],
  listPackageFiles: ['packages'],
  deletePackage: ['packages'],
  deletePackageVersion: ['packages'],
  restorePackageVersion: ['packages'],
  // They reveal more than issues, or more than this repository.
  searchIssues: null,
  moveIssue: null,
  // Only a user may approve a run of untrusted code.
  approveRun: null,
  reviewPendingDeployments: null,
};

/** Permissions that a task needs for a call; null if tasks may not call it. */
interface RequiredTaskPermissions {
  uses: readonly TaskUse[];
  /** Whether `number` in the path may be that of a pull request, which `pull-requests` also permits. */
  mayBePull: boolean;
}

/**
 * The permissions that let a task call an operation. Reading needs `read` of one of them, everything else `write`: the
 * policy checks their level. Tasks can never administer the repository.
 */
export function requiredTaskPermissions({
  id,
  tag,
  access,
  path,
}: Pick<Operation, 'id' | 'tag' | 'access' | 'path'>): RequiredTaskPermissions | null {
  const own = byId[id];
  if (own === null) return null;
  if (own !== undefined) return { uses: own, mayBePull: false };
  if (access !== 'repository:read' && access !== 'repository:write') return null;
  const uses = byTag[tag];
  if (uses === undefined) return null;
  const namesIssue = path.includes('/issues/{number}');
  return { uses: namesIssue ? ['issues'] : uses, mayBePull: namesIssue };
}
