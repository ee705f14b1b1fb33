import { hash } from 'node:crypto';
import { repositoryUrl } from '../../http/index.ts';
import type { WebDeps } from '../../web/index.ts';
import type { Dependency } from '../app/dependency.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { readLineExcerpts } from './line-excerpts.ts';
import { prepareDocument, shownTexts } from './prepare-document.ts';
import { readMovedLinks } from './moved-links.ts';
import type { TaskForm } from './rendered-markdown.ts';
import { readReferences } from './reference-links.ts';
import { fillDocument } from './render-document.ts';
import type { RenderedDocument } from './render-document.ts';
import { remoteImagesOf } from './remote-images.ts';
import { repositoryLinks } from './repository-links.ts';

/** A text of an issue for display. */
export type RenderedText = RenderedDocument;

/** The modules that rendering uses. */
type TextDeps = Pick<WebDeps, 'config' | 'issues' | 'workers' | 'imageProxy' | 'imports' | 'repositories' | 'git'>;

export interface TextToRender {
  body: string;
  /** For users who can edit the text: its checkboxes become buttons that send `position`, `revision` and `line`. */
  taskForm?: TaskForm | null | undefined;
  /** The text comes from a file, in which a line break is a space. */
  isFile?: boolean;
}

/** Texts of one page that are rendered concurrently: the worker pool accepts a hundred tasks of a client. */
const atOnce = 30;

/**
 * Renders the texts of a page of a repository, in order: in the worker pool, or from the cache by the hash of their
 * content; relative links resolve to files of the default branch, and all references are looked up together.
 * @returns the texts, and the dependencies of the page
 */
export async function renderTexts(
  context: RepositoryContext,
  deps: TextDeps,
  texts: readonly TextToRender[],
): Promise<{ texts: RenderedText[]; dependency: Dependency }> {
  const { found, origin } = context;
  const place = {
    repositoryUrl: repositoryUrl(found.canonical),
    ref: found.repository.defaultBranch,
    folder: Buffer.alloc(0),
    ...remoteImagesOf(found, deps, origin),
  };
  const prepared = await mapAtMost(atOnce, texts, ({ body, isFile }) =>
    prepareDocument(deps.workers, {
      ...sourceOf(body),
      ...(isFile ? { kind: 'file' as const } : {}),
      client: place.repositoryUrl,
      showsRemoteImages: place.showsRemoteImages,
      origin,
    }),
  );
  const moved = await readMovedLinks(
    context,
    deps,
    prepared.map((document, at) => ({ body: texts[at]!.body, prepared: document })),
  );
  const references = await readReferences(context, deps, [
    ...prepared.flatMap((document) => ('text' in document ? [] : document.references)),
    ...(moved?.references ?? []),
  ]);
  const excerpts = await readLineExcerpts(
    context,
    deps,
    prepared.flatMap((document) => ('text' in document ? [] : document.parts.html)),
  );
  const links = textLinks(repositoryLinks(place));
  const dependencies = [references.dependency, moved?.dependency ?? null, excerpts.dependency];
  return {
    texts: prepared.map((document, at) => {
      const taskForm = texts[at]!.taskForm ?? null;
      const filled = fillDocument(document, { links, references, origin, taskForm, moved });
      return 'html' in filled ? { ...filled, html: excerpts.fill(filled.html) } : filled;
    }),
    dependency: all(dependencies.filter((each) => each !== null)),
  };
}

const all = (dependencies: readonly Dependency[]): Dependency =>
  dependencies.length === 1
    ? dependencies[0]!
    : {
        value: dependencies.map(({ value }) => value),
        query: () => Promise.all(dependencies.map(({ query }) => query())),
      };

const sourceOf = (body: string) => ({
  key: `text ${hash('sha256', body)}`,
  source: () => body,
  kind: 'typed' as const,
});

/** Renders a text on submission, so that its first reader does not wait; a failure will recur then. */
export function prerenderText(
  { workers, config }: Pick<WebDeps, 'workers' | 'config'>,
  { repositoryId, body }: { repositoryId: string; body: string },
): void {
  const { remoteImages: showsRemoteImages } = config.repositories;
  const source = { ...sourceOf(body), client: repositoryId, showsRemoteImages, origin: null };
  void prepareDocument(workers, source).catch(() => undefined);
}

/**
 * The visible text of a user's document: outside of code, links and comments. The task equals that of `prerenderText`,
 * so the pool's cache has the result.
 */
export const shownTextsOf = (
  { workers, config }: Pick<WebDeps, 'workers' | 'config'>,
  body: string,
): Promise<string[]> =>
  shownTexts(workers, {
    ...sourceOf(body),
    client: 'written texts',
    showsRemoteImages: config.repositories.remoteImages,
  });

/** One text, as for a preview. */
export async function renderText(
  context: RepositoryContext,
  deps: TextDeps,
  body: string,
  { taskForm, isFile = false }: Omit<TextToRender, 'body'> = {},
): Promise<RenderedText> {
  return (await renderTexts(context, deps, [{ body, taskForm, isFile }])).texts[0]!;
}

/** Files attached to a text have their own URL on this server. */
const attachment = /^\/(?:[\w.-]+\/){0,4}attachments\/[\w-]+(?:\/[^?#]*)?$/;

/** As in a document of the default branch, but URLs of this server stay unchanged. */
const textLinks = (links: ReturnType<typeof repositoryLinks>): ReturnType<typeof repositoryLinks> => ({
  ...links,
  page: (address) => (address.startsWith('/') ? address : links.page(address)),
  image: (address) => (attachment.test(address) ? address : links.image(address)),
});

async function mapAtMost<Item, Result>(
  limit: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  const left = items.entries();
  const workOn = async (): Promise<void> => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, workOn));
  return results;
}
