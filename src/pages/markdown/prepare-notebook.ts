import type { TaskLimits, WorkerPool } from '../../workers/index.ts';
import { t } from '../../translation/index.ts';
import type { run } from './notebook-task.ts';
import { prepareParts } from './prepare-document.ts';
import type { DocumentSource, PreparedDocument } from './prepare-document.ts';

interface PreparedNotebook {
  document: PreparedDocument;
  cellCount: number;
}

/** A notebook whose source is shown instead. */
interface NotebookAsSource {
  /** The reason, as a part of a sentence; null for a file that is not a notebook. */
  reason: string | null;
  /** False when another attempt may render it. */
  isFinal: boolean;
}

const limits: TaskLimits = {
  // Parsing eight mebibytes of JSON takes a tenth of this; all rendered Markdown equals two long documents.
  deadlineMs: 1_500,
  maxWaitMs: 3_000,
  // The largest file that pages show, with two bytes for each character.
  maxInputBytes: 16 * 1024 * 1024 + 1_024,
  // Images of 3 MiB, text of 1 MiB in entities, and Markdown.
  maxResultBytes: 10 * 1024 * 1024,
};

/**
 * Renders a notebook in the worker pool, or returns the result cached by its blob id. Code and formulas are separate
 * tasks.
 */
export async function prepareNotebook(
  workers: WorkerPool,
  { key, client, source, showsRemoteImages, origin }: DocumentSource,
): Promise<PreparedNotebook | NotebookAsSource> {
  const outcome = await workers.run<typeof run>({
    task: 'notebook',
    key: showsRemoteImages ? `${key} with remote images` : key,
    input: () => ({ source: source(), showsRemoteImages }),
    client,
    limits,
  });
  if (!outcome.ok)
    return outcome.reason === 'busy'
      ? { reason: t('markdown.prepare_notebook.the_server_is_busy'), isFinal: false }
      : {
          reason: t('markdown.prepare_notebook.it_takes_too_long_to_render'),
          isFinal: outcome.reason.endsWith('too_large'),
        };
  if (outcome.value === null) return { reason: null, isFinal: true };
  const { cellCount, ...parts } = outcome.value;
  return { document: await prepareParts(workers, parts, { key: `${key} of a notebook`, client, origin }), cellCount };
}
