import { hash } from 'node:crypto';
import type { Viewer } from '../../access/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { WebDeps } from '../../web/index.ts';
import type { Located } from '../../repositories/index.ts';
import { prepareDocument } from './prepare-document.ts';
import { readReferences } from './reference-links.ts';
import { fillDocument } from './render-document.ts';
import { repositoryLinks } from './repository-links.ts';

/** Maximum length of a rendered text in a mail, in characters; a longer one is sent as source, cut off. */
const maxHtml = 200_000;

/**
 * A text of an issue as HTML for a mail, with the access of one user: sanitised like the page, every URL absolute, and
 * without content that a mail program loads, so images are links. Null when it cannot be rendered or is too long.
 */
export async function renderForMail(
  { config, issues, workers }: Pick<WebDeps, 'config' | 'issues' | 'workers'>,
  { viewer, place, body }: { viewer: Viewer; place: Located; body: string },
): Promise<string | null> {
  const origin = config.baseUrl;
  if (origin === null) return null;
  const canonical = { owner: place.owner.handle, name: place.repository.name };
  const home = repositoryUrl(canonical);
  const source = { key: `text ${hash('sha256', body)}`, source: () => body, kind: 'typed' as const };
  const document = await prepareDocument(workers, { ...source, client: home, showsRemoteImages: false, origin });
  if ('text' in document) return null;
  const references = await readReferences({ viewer, origin, found: { canonical } }, { issues }, document.references);
  const links = repositoryLinks({
    repositoryUrl: home,
    ref: place.repository.defaultBranch,
    folder: Buffer.alloc(0),
    showsRemoteImages: false,
  });
  const page = { ...links, page: (address: string) => (address.startsWith('/') ? address : links.page(address)) };
  const filled = fillDocument(document, { links: page, references, origin, taskForm: null });
  if ('text' in filled || filled.html.length > maxHtml) return null;
  return forMail(filled.html, origin);
}

/** The sanitiser writes attributes in double quotes, without `<` or `>` inside them. */
function forMail(html: string, origin: string): string {
  const attribute = (tag: string, name: string): string | null =>
    new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? null;
  let isInLink = false;
  return (
    html
      // Removes self-links of headings, and images that a mail program would load.
      .replace(/<a class="anchor"[^>]*><\/a>|<source\s[^>]*>|<\/?picture>/g, '')
      .replace(/<a\s[^>]*>|<\/a>|<img\s[^>]*>/g, (tag) => {
        if (!tag.startsWith('<img')) {
          isInLink = tag !== '</a>';
          return tag;
        }
        const label = attribute(tag, 'alt') || 'image';
        const address = attribute(tag, 'src');
        return address === null || isInLink ? label : `<a href="${address}">${label}</a>`;
      })
      .replace(/<input\s[^>]*>/g, (tag) => (/\schecked\b/.test(tag) ? '☑ ' : '☐ '))
      .replace(/\s(?:class|id|tabindex)="[^"]*"/g, '')
      .replace(/\shref="(\/[^"]*)"/g, (_all, path: string) => ` href="${origin}${path}"`)
  );
}
