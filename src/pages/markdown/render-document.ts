import type { DocumentLinks } from './document-links.ts';
import { t } from '../../translation/index.ts';
import { fillLinks } from './link-placeholders.ts';
import { escapeAttribute } from './placeholders.ts';
import { linkText, shortenInstanceUrls } from './linked-text.ts';
import type { MovedLinks } from './moved-links.ts';
import { replacePlaceholders, plainBox, taskButton, taskFormHtml } from './rendered-markdown.ts';
import type { TaskForm } from './rendered-markdown.ts';
import type { PlainDocument, PreparedDocument } from './prepare-document.ts';
import type { ReferenceLinks } from './reference-links.ts';

/** A document for display: rendered, or as text with the reason. */
export type RenderedDocument =
  /** `isFinal` is false when another attempt may show more of it highlighted. */
  { html: string; isFinal: boolean } | PlainDocument;

export interface DocumentFills {
  /** Resolves relative links and images. */
  links: Omit<DocumentLinks, 'showsRemoteImages'>;
  references: ReferenceLinks;
  /** Origin of this server as the browser knows it; null leaves its URLs as they are. */
  origin: string | null;
  /** Turns task checkboxes into buttons; null only shows them. */
  taskForm: TaskForm | null;
  /** Maps links to the forge that the repository was imported from to pages here. */
  moved?: MovedLinks | null;
}

/** Inserts the parts that depend on the viewer and the location, in linear time. */
export function fillDocument(
  document: PreparedDocument | PlainDocument,
  { links, references, origin, taskForm, moved = null }: DocumentFills,
): RenderedDocument {
  if ('text' in document) return document;
  const { parts, code, formulas, runs, isFinal } = moved?.rename(document) ?? document;
  let run = 0;
  const filled = replacePlaceholders(parts, {
    code: (index) => code[index] ?? null,
    formula: (index) => formulas[index] ?? null,
    task: (box, isInLink) => (taskForm === null || isInLink ? plainBox(box) : taskButton(taskForm, box)),
    text: (escaped) => linkText(escaped, runs[run++] ?? [], references),
  });
  const shortened = origin === null ? filled : shortenInstanceUrls(filled, origin, references);
  const linked = fillLinks(moved?.fill(shortened, references) ?? shortened, moved?.links(links) ?? links);
  const html = withHeadingLinks(linked);
  return { html: taskForm === null || parts.tasks.length === 0 ? html : taskFormHtml(taskForm) + html, isFinal };
}

/** A heading with an id, in the sanitiser's output. */
const heading = /<(h[2-6]) id="([^"<>]+)"([^<>]*)>/g;

/** Adds a link to itself to each heading, in the language of the page. */
function withHeadingLinks(html: string): string {
  const label = escapeAttribute(t('markdown.link_to_this_heading'));
  return html.replace(
    heading,
    (whole, _tag: string, id: string) => `${whole}<a class="anchor" href="#${id}" aria-label="${label}"></a>`,
  );
}
