import type { TaskLimits, WorkerPool } from '../../workers/index.ts';
import { fillLinks } from './link-placeholders.ts';
import type { run } from './markdown-task.ts';
import { repositoryLinks } from './repository-links.ts';
import type { DocumentPlace } from './repository-links.ts';

/** A document as a page shows it: rendered, or as text with a word on why. */
export type RenderedDocument =
  | { html: string }
  /** `isFinal` is false when another attempt may render it. */
  | { text: string; note: string; isFinal: boolean };

const limits: TaskLimits = {
  // A long document takes a tenth of it, the worst found by search five times as long.
  deadlineMs: 500,
  // The first document of a while waits for a thread that loads the renderer.
  patienceMs: 3_000,
  // 128 KiB, beyond Latin-1 two bytes for each character.
  maxInputBytes: 300 * 1024,
  // Thirty times the longest document.
  maxResultBytes: 4 * 1024 * 1024,
};

/**
 * Renders a document of a repository in the worker pool, or recalls it by the id of its
 * blob, which never means other bytes; its links lead to where it lies.
 */
export async function renderDocument(
  workers: WorkerPool,
  oid: string,
  place: DocumentPlace,
  source: () => string,
): Promise<RenderedDocument> {
  const { showsRemoteImages } = place;
  const outcome = await workers.run<typeof run>({
    task: 'markdown',
    key: showsRemoteImages ? `${oid} with remote images` : oid,
    input: () => ({ source: source(), showsRemoteImages }),
    client: place.repositoryUrl,
    limits,
  });
  if (outcome.ok) return { html: fillLinks(outcome.value, repositoryLinks(place)) };
  const isBusy = outcome.reason === 'busy';
  return {
    text: source(),
    note: isBusy
      ? 'This document is shown as text, because the server is busy. Reload the page to see it rendered.'
      : 'This document is shown as text, because it takes too long to render.',
    isFinal: outcome.reason === 'input_too_large' || outcome.reason === 'result_too_large',
  };
}
