import type { ListedWorkflow, Triggers } from '../../ci/index.ts';
import { viewName } from '../app/plain-text.ts';
import { describePush } from './push-filters.ts';

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

const pullRequests = 'this server has no pull requests, so it never starts by one';

const reasons = new Map([
  ['pull_request', pullRequests],
  ['pull_request_target', pullRequests],
  ['pull_request_review', pullRequests],
  ['pull_request_review_comment', pullRequests],
  ['merge_group', pullRequests],
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

function startsOf({ push, dispatch, schedule }: Triggers): string[] {
  return [
    ...(push === null ? [] : describePush(push)),
    ...(dispatch === null ? [] : ['By hand']),
    ...schedule.map((cron) => `By the clock: ${cron} (UTC)`),
  ];
}
