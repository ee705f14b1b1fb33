import { zoneOf } from '../../ci/index.ts';
import type { EventTrigger, ListedWorkflow, PlainEventName, Triggers } from '../../ci/index.ts';
import { t, translated } from '../../translation/index.ts';
import { viewName } from '../app/printable-names.ts';
import { describeMergeGroup, describePullTrigger, describePushTrigger } from './trigger-filters.ts';

/** A workflow of the default branch, for the list. */
interface WorkflowView {
  path: string;
  name: string;
  /** Its triggers, as text. */
  starts: string[];
  /** Triggers that have no effect here, with the reason. */
  never: { event: string; why: string }[];
  problem: string | null;
  mayStart: boolean;
  badge: string;
}

const reasons = new Map([
  // It would run with the repository's secrets on code that anyone proposes.
  ['pull_request_target', 'runs.workflow.it_would_expose_secrets_to_the'],
  ['pull_request_review', 'runs.workflow.reviews_start_nothing_here'],
  ['pull_request_review_comment', 'runs.workflow.review_comments_start_nothing_here'],
  ['workflow_call', 'runs.workflow.other_workflows_call_it'],
]);

export function viewWorkflow({ path, name, triggers, problem }: ListedWorkflow, repositoryUrl: string): WorkflowView {
  return {
    path,
    name: viewName(name),
    starts: triggers === null ? [] : startsOf(triggers),
    never: (triggers?.others ?? []).map((event) => ({
      event: viewName(event).slice(0, 60),
      why: t(reasons.get(event) ?? 'runs.workflow.this_server_does_not_support_this'),
    })),
    problem,
    mayStart: problem === null && triggers?.dispatch != null,
    badge: `${repositoryUrl}/runs/badge/${path.split('/').map(encodeURIComponent).join('/')}.svg`,
  };
}

const eventTexts: Record<PlainEventName, string> = translated({
  create: 'runs.workflow.a_new_branch_or_tag',
  delete: 'runs.workflow.the_deletion_of_a_branch_or',
  issues: 'runs.workflow.an_issue',
  issue_comment: 'runs.workflow.a_comment',
  release: 'runs.workflow.a_release',
  repository_dispatch: 'runs.workflow.an_api_call',
  workflow_run: 'runs.workflow.a_run_of',
});

function describeEvent(name: PlainEventName, { types, workflows, branches }: EventTrigger): string {
  const named = workflows.length === 0 ? '' : ` ${viewName(workflows.join(', '))}`;
  const patterns = viewName((branches?.patterns ?? []).join(', '));
  const ofTypes = types === null ? (name === 'workflow_run' ? ' (completed)' : '') : ` (${viewName(types.join(', '))})`;
  const event = `${eventTexts[name]}${named}`;
  if (branches === null) return `${event}${ofTypes}`;
  const key = branches.kind === 'ignore' ? 'runs.workflow.except_branches' : 'runs.workflow.on_branches';
  return `${t(key, { event, patterns })}${ofTypes}`;
}

function startsOf({ push, pull, mergeGroup, dispatch, schedule, events }: Triggers): string[] {
  return [
    ...(push === null ? [] : describePushTrigger(push)),
    ...(pull === null ? [] : [describePullTrigger(pull)]),
    ...(mergeGroup === null ? [] : [describeMergeGroup(mergeGroup)]),
    ...[...events].map(([name, trigger]) => describeEvent(name, trigger)),
    ...(dispatch === null ? [] : [t('runs.workflow.manually')]),
    ...schedule.map((each) => t('runs.workflow.on_schedule_cron_zone', { cron: each.cron, zone: zoneOf(each) })),
  ];
}
