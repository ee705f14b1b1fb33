import type { RunRow } from '../../ci/index.ts';
import { shortRef } from '../../kernel/index.ts';
import { viewName } from '../app/printable-names.ts';
import { viewLinkedText } from '../markdown/linked-text.ts';
import type { TextPart } from '../markdown/linked-text.ts';
import type { ReferenceLinks } from '../markdown/reference-links.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';
import { personUrl } from '../../http/index.ts';
import { t, translated } from '../../translation/index.ts';
import { viewDuration, viewWait } from './durations.ts';
import { viewRunStatus } from '../app/commit-state.view.ts';
import type { StatusView } from '../app/commit-state.view.ts';

/** One run in a list, and in the header of its own page. */
interface RunRowView {
  number: number;
  url: string;
  title: string;
  /** With its references as links; null without any. */
  titleParts: TextPart[] | null;
  workflow: string;
  workflowPath: string;
  event: string;
  ref: string;
  refUrl: string;
  sha: string;
  commitUrl: string;
  actor: { name: string; url: string | null } | null;
  status: StatusView;
  reason: string | null;
  attempt: number;
  created: TimeView;
  duration: string | null;
  /** How long it waited for its first job to start; null for later attempts, and where that is not worth a word. */
  wait: string | null;
}

const events: Record<RunRow['event'], string> = translated({
  push: 'push',
  pull_request: 'runs.run_row.pull_request',
  merge_group: 'runs.run_row.merge_queue',
  workflow_dispatch: 'runs.run_row.started_manually',
  schedule: 'runs.run_row.schedule',
  create: 'runs.run_row.new_branch_or_tag',
  delete: 'runs.run_row.deleted_branch_or_tag',
  issues: 'issue',
  issue_comment: 'comment',
  release: 'runs.run_row.release',
  repository_dispatch: 'runs.run_row.api_call',
  workflow_run: 'runs.run_row.end_of_another_run',
});

export const runUrl = (repositoryUrl: string, number: number): string => `${repositoryUrl}/runs/${number}`;

/**
 * @param actor username of the user who started it; null for the scheduler, for deploy keys, and for deleted accounts
 */
export function viewRunRow(
  run: RunRow,
  repositoryUrl: string,
  actor: string | null,
  now: number,
  references: ReferenceLinks,
): RunRowView {
  const title = viewName(run.title) || run.workflowName;
  const ref = shortRef(run.ref);
  const pull = /^refs\/pull\/(\d+)\/merge$/.exec(run.ref)?.[1];
  return {
    number: run.number,
    url: runUrl(repositoryUrl, run.number),
    title,
    titleParts: viewLinkedText(title, references),
    workflow: viewName(run.workflowName),
    workflowPath: run.workflowPath,
    event: events[run.event],
    ref: pull === undefined ? viewName(ref) : `#${pull}`,
    refUrl:
      pull === undefined
        ? `${repositoryUrl}/tree/${ref.split('/').map(encodeURIComponent).join('/')}`
        : `${repositoryUrl}/pulls/${pull}`,
    sha: run.sha.slice(0, 10),
    commitUrl: `${repositoryUrl}/commit/${run.sha}`,
    actor:
      actor !== null
        ? { name: actor, url: personUrl(actor) }
        : run.deployKey === null
          ? null
          : { name: t('runs.run_row.deploy_key_key', { key: viewName(run.deployKey) }), url: null },
    status: viewRunStatus(run),
    reason: run.reason,
    attempt: run.attempt,
    created: viewTime(run.createdAt, now),
    duration: viewDuration(run.startedAt, run.finishedAt, now),
    wait: run.attempt > 1 ? null : viewWait({ ...run, waitingSince: run.createdAt }, now),
  };
}
