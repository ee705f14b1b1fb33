import type { Embedded } from '../../embedded/index.ts';

/** One heading of a documentation page, with the text up to the next one. */
export interface DocumentSection {
  /** Without markup; for the beginning, the title of the page. */
  title: string;
  /** The id of the heading in the rendered page; empty for the beginning. */
  anchor: string;
  text: string;
}

export interface HelpDocument {
  name: string;
  title: string;
  /** The first sentence. */
  summary: string;
  source: string;
  sections: readonly DocumentSection[];
}

/** Markup to remove from a plain sentence. */
const plainText = (markdown: string): string =>
  markdown
    .replace(/!?\[([^\]\n]{0,300})\]\([^()\n]{0,300}\)/g, '$1')
    .replace(/[`*|]/g, '')
    .replace(/\s+/g, ' ')
    .trim();

/** The id of a heading: lower case, hyphens for spaces, without punctuation. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

function sectionsOf(source: string): DocumentSection[] {
  const sections: { title: string; anchor: string; lines: string[] }[] = [];
  let isCode = false;
  for (const line of source.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode;
    const heading = isCode ? null : /^(#{1,4}) (.+)$/.exec(line);
    if (heading === null) sections.at(-1)?.lines.push(line);
    else {
      const title = plainText(heading[2]!);
      sections.push({ title, anchor: heading[1] === '#' ? '' : anchorOf(title), lines: [] });
    }
  }
  return sections.map(({ title, anchor, lines }) => ({ title, anchor, text: plainText(lines.join(' ')) }));
}

/** The first sentence of a text; a short text as a whole. Its colon announces a list that is not shown here. */
const firstSentence = (text: string): string =>
  (/^.{20,240}?[.:](?= |$)/.exec(text)?.[0] ?? text.slice(0, 200)).replace(/:$/, '.');

const known = new Map<string, HelpDocument>();

/** A documentation page; null if this version does not have it. */
export function findDocument(
  embedded: Pick<Embedded, 'document' | 'documentNames'>,
  name: string,
): HelpDocument | null {
  if (!embedded.documentNames().includes(name)) return null;
  const source = embedded.document(name);
  let document = known.get(name);
  if (document?.source !== source) {
    const sections = sectionsOf(source);
    const [first] = sections;
    document = { name, source, sections, title: first?.title ?? name, summary: firstSentence(first?.text ?? '') };
    known.set(name, document);
  }
  return document;
}

export const listDocuments = (embedded: Pick<Embedded, 'document' | 'documentNames'>): HelpDocument[] =>
  embedded.documentNames().flatMap((name) => findDocument(embedded, name) ?? []);
