import { hash } from 'node:crypto';
import type { WorkerPool } from '../../workers/index.ts';
import { renderDocument } from '../markdown/render-document.ts';
import type { RenderedDocument } from '../markdown/render-document.ts';

/** A text of an issue as a page shows it. */
export type RenderedText = RenderedDocument;

/** Where a text is: its relative links lead to files of the default branch. */
export interface TextPlace {
  repositoryUrl: string;
  defaultBranch: string;
  showsRemoteImages: boolean;
}

/** Texts of one page that are rendered at a time: the worker pool takes a hundred tasks of a client. */
const atOnce = 40;

/** Renders a text in the worker pool, or recalls it by the hash of its content. */
export function renderText(workers: WorkerPool, place: TextPlace, body: string): Promise<RenderedText> {
  const { repositoryUrl, defaultBranch: ref, showsRemoteImages } = place;
  const at = { repositoryUrl, ref, folder: Buffer.alloc(0), showsRemoteImages };
  return renderDocument(workers, `text ${hash('sha256', body)}`, at, () => body);
}

/** Renders a text when it is written, so that its first reader does not wait; what goes wrong is met again then. */
export function renderAhead(
  workers: WorkerPool,
  {
    showsRemoteImages,
    repositoryId,
    body,
  }: Pick<TextPlace, 'showsRemoteImages'> & { repositoryId: string; body: string },
): void {
  // Where the text is shown does not matter: its links are filled in with each page.
  const place = { repositoryUrl: repositoryId, defaultBranch: '', showsRemoteImages };
  void renderText(workers, place, body).catch(() => undefined);
}

/** The same for the texts of a page, in their order. */
export async function renderTexts(
  workers: WorkerPool,
  place: TextPlace,
  bodies: readonly string[],
): Promise<RenderedText[]> {
  const rendered: RenderedText[] = new Array<RenderedText>(bodies.length);
  const left = bodies.entries();
  const renderNext = async (): Promise<void> => {
    for (const [index, body] of left) rendered[index] = await renderText(workers, place, body);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, bodies.length) }, renderNext));
  return rendered;
}
