import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { commitStatusSchema } from '../schema/commit-status-schema.ts';
import type { CommitStatus } from '../schema/commit-status-schema.ts';
import {
  commitStatuses,
  commitStatusesOf,
  removeCommitStatus,
  removeStatusesTo,
  setCommitStatus,
  statusesOf,
} from './commit-statuses.ts';
import type { RepositoryCommit, StatusReport } from './commit-statuses.ts';
import { reportStatus } from './report-status.ts';
import { statusReportsOf } from './status-reports.ts';
import type { ReportedStatus } from './report-status.ts';

/** Called for each status that is set; possibly inside a transaction that may still fail. */
export type StatusListener = (status: Pick<StatusReport, 'repositoryId' | 'sha' | 'context' | 'state'>) => void;

/** Called for each recorded status, inside its transaction. */
export type StatusWriteListener = (tx: Tx, status: CommitStatus) => Promise<void>;

/** Commit statuses by context. */
export function createStatusService(deps: RepositoryDeps) {
  const listeners: StatusListener[] = [];
  const tell: StatusListener = (status) => listeners.forEach((listener) => listener(status));
  const recorders: StatusWriteListener[] = [];
  async function record(
    tx: Tx,
    { repositoryId, sha, context }: Pick<CommitStatus, 'repositoryId' | 'sha' | 'context'>,
  ) {
    if (recorders.length === 0) return;
    const status = await tx.manager.findOneByOrFail(commitStatusSchema, { repositoryId, sha, context });
    for (const recorder of recorders) await recorder(tx, status);
  }
  return {
    async set(tx: Tx, report: StatusReport): Promise<void> {
      await setCommitStatus(tx, report);
      await record(tx, report);
      tell(report);
    },
    /** Registers a listener, which must be quick and defer its work. */
    onChange: (listener: StatusListener): void => void listeners.push(listener),
    /** Registers a listener inside the transaction. */
    onRecord: (listener: StatusWriteListener): void => void recorders.push(listener),
    remove: removeCommitStatus,
    removeTo: removeStatusesTo,
    async report(viewer: Viewer, owner: string, name: string, status: ReportedStatus): Promise<CommitStatus> {
      const reported = await reportStatus(deps, viewer, { owner, name }, status, record);
      tell(reported);
      return reported;
    },
    ofRepositoryCommits: (commits: readonly RepositoryCommit[]) => commitStatusesOf(deps.db, commits),
    ofCommit: statusesOf,
    reportsOf: (repositoryId: string, sha: string) => statusReportsOf(deps.db, repositoryId, sha),
    ofCommits: (repositoryId: string, shas: readonly string[]) => commitStatuses(deps.db, repositoryId, shas),
  };
}
