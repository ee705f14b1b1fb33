import { yieldToEventLoop } from '../kernel/index.ts';
import type { Operation } from './operation.ts';

/** The modules of the table of operations, ordered so that loading one evaluates little more than its own file. */
const pieces: readonly (() => Promise<unknown>)[] = [
  () => import('zod'),
  () => import('./v1/shapes/schemas.ts'),
  () => import('./v1/ci/actions-artifacts.ts'),
  () => import('./v1/ci/actions-runs.ts'),
  () => import('./v1/ci/actions-settings.ts'),
  () => import('./v1/server/admin.ts'),
  () => import('./v1/code/file-contents.ts'),
  () => import('./v1/code/git-data.ts'),
  () => import('./v1/issues/issues.ts'),
  () => import('./v1/pulls/pulls.ts'),
  () => import('./v1/pulls/reviews.ts'),
  () => import('./v1/repositories/repositories.ts'),
  () => import('./v1/repositories/repository-acts.ts'),
  () => import('./v1/code/releases.ts'),
  () => import('./v1/organisations/organisations.ts'),
  () => import('./v1/ci/statuses.ts'),
  () => import('./v1/server/search.ts'),
];

/**
 * Every operation of the API. Loaded by the first call instead of at every start: some four hundred with their schemas
 * take 0.1 s to evaluate, with pauses for other work.
 */
export async function loadInPieces(): Promise<readonly Operation[]> {
  for (const load of pieces) {
    await yieldToEventLoop();
    await load();
  }
  const { operations } = await import('./v1/operations.ts');
  await yieldToEventLoop();
  return operations;
}
