import type { PullTrigger } from './workflow.ts';

/** Activity types of pull requests that start workflows here. */
const pullActions = ['opened', 'synchronize', 'reopened', 'ready_for_review'] as const;
export type PullAction = (typeof pullActions)[number];

/** Types of a workflow that names none, as on other forges. */
const usualTypes: readonly string[] = ['opened', 'synchronize', 'reopened'];

/** Whether a workflow names this activity type. Branches and paths are matched like those of a push to the base. */
export const takesAction = ({ types }: PullTrigger, action: PullAction): boolean =>
  (types ?? usualTypes).includes(action);
