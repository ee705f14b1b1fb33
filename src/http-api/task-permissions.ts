import type { TaskUse } from '../access/index.ts';
import type { Operation, Tag } from './operation.ts';

/** The permissions by which a task may call the operations of a subject; any one of them is enough. */
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

/** Operations apart from their subject; null for those that are for people. */
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
  // They see more than issues, or more than this repository.
  searchIssues: null,
  moveIssue: null,
  // A run of untrusted code is let by a person.
  approveRun: null,
  reviewPendingDeployments: null,
};

/** What a call of a task needs; null when tasks do not call it. */
interface RequiredTaskPermissions {
  uses: readonly TaskUse[];
  /** Whether `number` in the path may be that of a pull request, which `pull-requests` opens, too. */
  mayBePull: boolean;
}

/**
 * The permissions of a task that an operation is for. Reading needs `read` of one of them, everything else `write`:
 * the policy decides with the level that they give. Administration of the repository is never for tasks.
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
