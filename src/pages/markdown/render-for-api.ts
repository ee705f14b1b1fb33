import { hash } from 'node:crypto';
import type { TextToShow, WebDeps } from '../../web/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { unavailable } from '../../kernel/index.ts';
import type { DocumentLinks } from './document-links.ts';
import { prepareDocument } from './prepare-document.ts';
import { readReferences } from './reference-links.ts';
import { remoteImagesOf } from './remote-images.ts';
import { fillDocument } from './render-document.ts';
import { repositoryLinks } from './repository-links.ts';

type Deps = Pick<WebDeps, 'config' | 'issues' | 'workers' | 'imageProxy'>;

/**
 * A text as HTML that is as safe as in a page, with absolute URLs for this server. With a repository, relative links
 * resolve to its files; without one they stay unchanged. Throws `text_not_rendered` where the renderer gives up: a text
 * that is too long or takes too much time.
 */
export async function renderForApi(
  deps: Deps,
  { viewer, origin, found, source, kind, ref, folder }: TextToShow,
): Promise<string> {
  const place =
    found === null
      ? null
      : {
          repositoryUrl: repositoryUrl(found.canonical),
          ref: ref ?? found.repository.defaultBranch,
          folder: Buffer.from(folder),
          ...remoteImagesOf(found, deps, origin),
        };
  const document = await prepareDocument(deps.workers, {
    key: `text ${hash('sha256', source)}`,
    source: () => source,
    kind,
    client: viewer.kind === 'person' ? viewer.id : (place?.repositoryUrl ?? 'api'),
    showsRemoteImages: place?.showsRemoteImages ?? false,
    origin,
  });
  if ('text' in document) throw notRendered(document.note);
  const references = await readReferences({ viewer, origin, found }, deps, document.references);
  const links = place === null ? asWritten : repositoryLinks(place);
  const filled = fillDocument(document, { links, references, origin, taskForm: null });
  if ('text' in filled) throw notRendered(filled.note);
  return filled.html.replace(pageOnly, '').replace(ownAddress, `$1${origin}/`);
}

const notRendered = (note: string) => unavailable('text_not_rendered', note, { retryAfterSeconds: 10 });

/** The link to itself that a page adds to a heading. */
const pageOnly = /<a class="anchor"[^>]*><\/a>/g;
/** The sanitiser writes attributes in double quotes. */
const ownAddress = /(\s(?:href|src)=")\/(?!\/)/g;

const asWritten: DocumentLinks = { page: (address) => address, image: (address) => address };
