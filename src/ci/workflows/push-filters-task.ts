import { TooManySteps } from './glob.ts';
import { matchesPush } from './match-push.ts';
import type { PushedRef } from './match-push.ts';
import type { PushTrigger } from './workflow.ts';

/** Task of the worker pool: whether a push triggers a workflow. Filters that exceed the step limit match nothing. */
export function run({ trigger, ref }: { trigger: PushTrigger; ref: PushedRef }): boolean {
  try {
    return matchesPush(trigger, ref);
  } catch (error) {
    if (!(error instanceof TooManySteps)) throw error;
    return false;
  }
}
