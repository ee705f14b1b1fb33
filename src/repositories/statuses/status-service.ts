import type { Viewer } from '../../access/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import {
  commitStatuses,
  commitStatusesOf,
  removeCommitStatus,
  removeStatusesTo,
  setCommitStatus,
  statusesOf,
} from './commit-statuses.ts';
import type { RepositoryCommit } from './commit-statuses.ts';
import { reportStatus } from './report-status.ts';
import type { ReportedStatus } from './report-status.ts';

/** Statuses of commits, by context. */
export function createStatusService(deps: RepositoryDeps) {
  return {
    set: setCommitStatus,
    remove: removeCommitStatus,
    removeTo: removeStatusesTo,
    report: (viewer: Viewer, owner: string, name: string, status: ReportedStatus) =>
      reportStatus(deps, viewer, { owner, name }, status),
    ofRepositoryCommits: (commits: readonly RepositoryCommit[]) => commitStatusesOf(deps.db, commits),
    ofCommit: statusesOf,
    ofCommits: (repositoryId: string, shas: readonly string[]) => commitStatuses(deps.db, repositoryId, shas),
  };
}
