import type { EventTrigger, ListedWorkflow, PlainEventName, Triggers } from '../../ci/index.ts';
import { viewName } from '../app/printable-names.ts';
import { describeMergeGroup, describePullTrigger, describePushTrigger } from './trigger-filters.ts';

/** A workflow of the default branch, as the list shows it. */
export interface WorkflowView {
  path: string;
  name: string;
  /** Its triggers, as text. */
  starts: string[];
  /** What it names that starts nothing here, and why. */
  never: { event: string; why: string }[];
  problem: string | null;
  mayStart: boolean;
  badge: string;
}

const reasons = new Map([
  // It would run with the secrets of the repository on what anyone proposes.
  ['pull_request_target', 'it would give secrets to the code of others; use pull_request'],
  ['pull_request_review', 'reviews start nothing here'],
  ['pull_request_review_comment', 'comments of reviews start nothing here'],
  ['workflow_call', 'other workflows call it'],
]);

export function viewWorkflow({ path, name, triggers, problem }: ListedWorkflow, repositoryUrl: string): WorkflowView {
  return {
    path,
    name: viewName(name),
    starts: triggers === null ? [] : startsOf(triggers),
    never: (triggers?.others ?? []).map((event) => ({
      event: viewName(event).slice(0, 60),
      why: reasons.get(event) ?? 'this server has no such event',
    })),
    problem,
    mayStart: problem === null && triggers?.dispatch != null,
    badge: `${repositoryUrl}/runs/badge/${path.split('/').map(encodeURIComponent).join('/')}.svg`,
  };
}

const eventTexts: Record<PlainEventName, string> = {
  create: 'A new branch or tag',
  delete: 'The deletion of a branch or tag',
  issues: 'An issue',
  issue_comment: 'A comment',
  release: 'A release',
  repository_dispatch: 'A call of the API',
  workflow_run: 'A run of',
};

function describeEvent(name: PlainEventName, { types, workflows, branches }: EventTrigger): string {
  const named = workflows.length === 0 ? '' : ` ${viewName(workflows.join(', '))}`;
  const onBranches = branches === null ? '' : ` on ${branches.kind === 'ignore' ? 'other branches than ' : ''}`;
  const patterns = viewName((branches?.patterns ?? []).join(', '));
  const ofTypes = types === null ? (name === 'workflow_run' ? ' (completed)' : '') : ` (${viewName(types.join(', '))})`;
  return `${eventTexts[name]}${named}${onBranches}${patterns}${ofTypes}`;
}

function startsOf({ push, pull, mergeGroup, dispatch, schedule, events }: Triggers): string[] {
  return [
    ...(push === null ? [] : describePushTrigger(push)),
    ...(pull === null ? [] : [describePullTrigger(pull)]),
    ...(mergeGroup === null ? [] : [describeMergeGroup(mergeGroup)]),
    ...[...events].map(([name, trigger]) => describeEvent(name, trigger)),
    ...(dispatch === null ? [] : ['By hand']),
    ...schedule.map((cron) => `By the clock: ${cron} (UTC)`),
  ];
}
