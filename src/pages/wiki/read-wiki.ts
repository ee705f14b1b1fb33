import { isPageFile } from '../../repositories/index.ts';
import type { Wiki, WikiPage } from '../../repositories/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { remoteImagesOf } from '../markdown/remote-images.ts';
import { readReferences } from '../markdown/reference-links.ts';
import { prepareDocument } from '../markdown/prepare-document.ts';
import type { PlainDocument, PreparedDocument } from '../markdown/prepare-document.ts';
import { fillDocument } from '../markdown/render-document.ts';
import type { RenderedDocument } from '../markdown/render-document.ts';
import { decodeFileText } from '../app/decode-text.ts';
import type { WikiDeps } from './deps.ts';
import { wikiLinks } from './wiki-links.ts';

/** Longer pages are shown as text and cut. */
const maxPageBytes = 1024 * 1024;
/** The worker pool renders documents up to this size. */
const maxRenderedBytes = 128 * 1024;
const maxFiles = 10_000;

export const findWikiOf = ({ viewer, found }: RepositoryContext, { repositories }: WikiDeps): Promise<Wiki> =>
  repositories.wikis.find(viewer, found.canonical.owner, found.canonical.name);

/** The text of a page; binary content is shown as Latin-1. */
export async function readPageText({ git }: WikiDeps, wiki: Wiki, { oid }: Pick<WikiPage, 'oid'>): Promise<string> {
  const { content } = await git.objects.blob(wiki.path, oid, { maxBytes: maxPageBytes });
  if (content === null) return '';
  return decodeFileText(content)?.text ?? content.toString('latin1');
}

/** A text of a wiki before it is rendered. */
interface WikiText {
  /** Cache key: always names the same text. */
  key: string;
  /** The file that its links are relative to. */
  file: string;
  text: string;
}

/** Renders texts of a wiki: relative links resolve to its pages; all references are looked up together. */
export async function renderWikiTexts(
  context: RepositoryContext,
  deps: WikiDeps,
  wiki: Wiki,
  texts: readonly WikiText[],
): Promise<RenderedDocument[]> {
  const { found, origin } = context;
  const client = repositoryUrl(found.canonical);
  const images = remoteImagesOf(found, deps, origin);
  const prepared = await Promise.all(
    texts.map(({ key, text }): Promise<PreparedDocument | PlainDocument> | PlainDocument =>
      text.length > maxRenderedBytes
        ? { text, note: t('wiki.read_wiki.this_page_is_too_long_to'), isFinal: true }
        : prepareDocument(deps.workers, {
            key,
            source: () => text,
            kind: 'wiki',
            client,
            showsRemoteImages: images.showsRemoteImages,
            origin,
          }),
    ),
  );
  const references = await readReferences(
    context,
    deps,
    prepared.flatMap((document) => ('text' in document ? [] : document.references)),
  );
  const listed = wiki.tip === null ? null : await deps.git.queries.listFiles(wiki.path, wiki.tip, { limit: maxFiles });
  const files = new Set(listed?.files.map(({ path }) => path.toString()).filter((path) => !isPageFile(path)));
  return prepared.map((document, at) => {
    const links = wikiLinks({ at: found.canonical, file: texts[at]!.file, files, ...images });
    return fillDocument(document, { links, references, origin, taskForm: null });
  });
}
