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

/** A document as a page shows it: rendered, or as text with a word on why. */
export type RenderedDocument =
  /** `isFinal` is false when another attempt may show more of it highlighted. */
  { html: string; isFinal: boolean } | PlainDocument;

export interface DocumentFills {
  /** Where relative links and images lead. */
  links: Omit<DocumentLinks, 'showsRemoteImages'>;
  references: ReferenceLinks;
  /** This server as the browser knows it; null leaves its addresses as they are. */
  origin: string | null;
  /** Makes task boxes buttons; null shows them only. */
  taskForm: TaskForm | null;
  /** Where links to the forge that the repository came from lead here. */
  moved?: MovedLinks | null;
}

/** Puts in what depends on the viewer and the place, in linear time. */
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

/** What the cleaner writes of a heading with an id. */
const heading = /<(h[2-6]) id="([^"<>]+)"([^<>]*)>/g;

/** Each heading offers its address, in the language of the page. */
function withHeadingLinks(html: string): string {
  const label = escapeAttribute(t('markdown.link_to_this_heading'));
  return html.replace(
    heading,
    (whole, _tag: string, id: string) => `${whole}<a class="anchor" href="#${id}" aria-label="${label}"></a>`,
  );
}
