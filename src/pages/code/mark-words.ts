import { createHash } from 'node:crypto';
import type { Patch } from '../../git/index.ts';
import type { TaskLimits } from '../../workers/index.ts';
import { changedPairs } from './diff-lines.view.ts';
import type { WordMarks } from './diff-lines.view.ts';
import type { run } from './word-diff-task.ts';
import { nullOnTimeout } from '../app/null-on-timeout.ts';
import type { CodeDeps } from './deps.ts';

const limits: TaskLimits = {
  deadlineMs: 500,
  maxWaitMs: 1_000,
  // A file alone shows four megabytes of lines, which take two bytes per character outside Latin-1.
  maxInputBytes: 10 * 1024 * 1024,
  maxResultBytes: 10 * 1024 * 1024,
};

/** Default time that a page waits for its marks; the pool caches them for the next view. */
const usualWaitMs = 800;

interface Marked {
  /** Keyed by the file of the patch. */
  marks: Map<Patch['file'], WordMarks>;
  /** False when a later view may have more. */
  isComplete: boolean;
}

/** Finds the changed words in pairs of lines, file by file, in the worker pool. */
export async function markWords(
  path: string,
  { workers }: Pick<CodeDeps, 'workers'>,
  patches: readonly Patch[],
  waitMs = usualWaitMs,
): Promise<Marked> {
  const marks: Marked['marks'] = new Map();
  const outcomes = patches.map(async (patch) => {
    const pairs = changedPairs(patch);
    if (pairs.length === 0) return true;
    const key = createHash('sha256').update(JSON.stringify(pairs)).digest('hex');
    const outcome = await workers.run<typeof run>({
      task: 'word-diff',
      key,
      input: () => pairs,
      client: path,
      limits,
    });
    if (outcome.ok) marks.set(patch.file, outcome.value);
    return outcome.ok;
  });
  const all = await nullOnTimeout(Promise.all(outcomes), waitMs);
  return { marks: new Map(marks), isComplete: all?.every(Boolean) ?? false };
}
