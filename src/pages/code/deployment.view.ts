import type { DeploymentRow, DeploymentState } from '../../ci/index.ts';
import { shortRef } from '../../kernel/index.ts';
import { environmentPath } from '../../ci/index.ts';
import { translated } from '../../translation/index.ts';
import type { StatusView } from '../app/commit-state.view.ts';
import { viewName } from '../app/printable-names.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';

const view = (text: string, icon: string, tone: StatusView['tone'], isFinal = true): StatusView => ({
  text,
  icon,
  tone,
  isFinal,
});

const states: Record<DeploymentState, StatusView> = translated({
  waiting: view('code.deployment.waiting_to_start', 'clock', 'busy', false),
  queued: view('code.deployment.queued', 'clock', 'busy', false),
  pending: view('code.deployment.pending', 'clock', 'busy', false),
  in_progress: view('code.deployment.in_progress', 'run', 'busy', false),
  success: view('code.deployment.active', 'check', 'good'),
  failure: view('code.deployment.failed', 'cross', 'bad'),
  error: view('code.deployment.cancelled_or_broken', 'ban', 'bad'),
  inactive: view('code.deployment.inactive', 'circle', 'idle'),
});

/** One deployment, in the history of its environment and beside its commit. */
export interface DeploymentView {
  id: number;
  environment: string;
  environmentUrl: string;
  status: StatusView;
  sha: string;
  commitUrl: string;
  /** The branch or tag; null for a pull request and for a commit id. */
  ref: { name: string; url: string } | null;
  by: string | null;
  at: TimeView;
  /** The URL of the deployed site, given by the job or the API; null without one. */
  address: string | null;
  description: string;
  /** The run whose job deploys; null for a deployment created outside of CI. */
  hasJob: boolean;
}

/** The page of an environment. */
export const environmentUrl = (repositoryUrl: string, name: string): string =>
  `${repositoryUrl}/environments/${environmentPath(name)}`;

/**
 * @param names usernames, by id
 */
export function viewDeployment(
  row: DeploymentRow,
  repositoryUrl: string,
  names: ReadonlyMap<string, string>,
  now: number,
): DeploymentView {
  const ref = shortRef(row.ref);
  return {
    id: row.id,
    environment: row.environment,
    environmentUrl: environmentUrl(repositoryUrl, row.environment),
    status: states[row.state],
    sha: row.sha.slice(0, 10),
    commitUrl: `${repositoryUrl}/commit/${row.sha}`,
    ref:
      ref.startsWith('refs/') || ref === row.sha
        ? null
        : { name: viewName(ref), url: `${repositoryUrl}/tree/${ref.split('/').map(encodeURIComponent).join('/')}` },
    by: row.creatorId === null ? null : (names.get(row.creatorId) ?? null),
    at: viewTime(row.createdAt, now),
    address: row.url,
    description: row.description,
    hasJob: row.runId !== null && row.jobId !== null,
  };
}
