import type { TaskLimits, WorkerPool } from '../workers/index.ts';
import type { run } from './highlight-blocks-task.ts';

const limits: TaskLimits = {
  // 64 KiB of code take a tenth of this time.
  deadlineMs: 500,
  // Starting a thread takes longer on a busy machine; the next view finds it running.
  maxWaitMs: 2_000,
  maxInputBytes: 400 * 1024,
  maxResultBytes: 4 * 1024 * 1024,
};

/**
 * Highlights the blocks of a document in the worker pool: HTML with a span for each token, or null for a block in an
 * unknown language. All are null when the highlighter was terminated or is busy.
 * @param key cache key: always names the same blocks
 */
export async function highlightBlocks(
  workers: WorkerPool,
  { key, blocks, client }: { key: string; blocks: readonly { language: string; text: string }[]; client: string },
): Promise<{ html: readonly (string | null)[]; isFinal: boolean }> {
  if (blocks.every(({ language }) => language === '')) return { html: [], isFinal: true };
  const outcome = await workers.run<typeof run>({
    task: 'highlight-blocks',
    key,
    input: () => ({ blocks }),
    client,
    limits,
  });
  return outcome.ok ? { html: outcome.value, isFinal: true } : { html: [], isFinal: outcome.reason !== 'busy' };
}
