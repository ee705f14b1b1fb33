import type { PullTrigger } from './workflow.ts';

/** What happens to a pull request, in the words of workflow files; these start workflows here. */
const pullActions = ['opened', 'synchronize', 'reopened', 'ready_for_review'] as const;
export type PullAction = (typeof pullActions)[number];

/** What starts a workflow that names no types, as on other forges. */
const usualTypes: readonly string[] = ['opened', 'synchronize', 'reopened'];

/** Whether a workflow names this kind of event. Branches and paths are matched like those of a push to the base. */
export const takesAction = ({ types }: PullTrigger, action: PullAction): boolean =>
  (types ?? usualTypes).includes(action);
