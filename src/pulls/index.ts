export { pullEntities } from './pull-entities.ts';
export { createPulls } from './pulls.ts';
export type { Pulls, PullsOptions } from './pulls.ts';
export type { PullContext } from './find-pull.ts';
export type { NewPull, OpenedPull } from './lifecycle/open-pull.ts';
export type { PullOfIssue } from './pulls-of-issues.ts';
export type { MergeState, PullRow, PullSource } from './schema/pull-schema.ts';
export type { RoundChange, RoundCommitRow, RoundRow } from './schema/round-schema.ts';
export type { ThreadSide, ThreadState, Verdict } from './schema/review-schema.ts';
