import type { TreeEntry } from '../../git/index.ts';
import { decodeText, viewName } from './plain-text.ts';

/** A README as the page shows it: exactly one of `html` and `text` is set. */
export interface ReadmeView {
  name: string;
  /** Rendered and cleaned; the only HTML that a template prints as it is. */
  html: string | null;
  text: string | null;
}

/** Rendering blocks the event loop for about a millisecond per kB. */
export const maxReadmeBytes = 128 * 1024;

const readmeName = /^readme(?:\.(?:md|markdown|mkd|txt|text))?$/i;
const markdownName = /\.(?:md|markdown|mkd)$/i;

const rank = ({ name }: TreeEntry): number => (markdownName.test(name) ? 0 : name.includes('.') ? 1 : 2);

/** The README of a folder, Markdown before plain text; a symbolic link is not followed. */
export function findReadme(entries: readonly TreeEntry[]): TreeEntry | null {
  const candidates = entries.filter(({ name, kind }) => (kind === 'file' || kind === 'executable') && readmeName.test(name));
  return candidates.sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

const maxRemembered = 100;
/** Rendered READMEs by the id of their blob: an id never means other bytes. */
const rendered = new Map<string, string>();

async function renderOnce(oid: string, content: Buffer): Promise<string> {
  // Loaded by the first README: the renderer and the cleaner are a good part of what a start would load.
  const { renderMarkdown } = await import('../markdown/render-markdown.ts');
  // Links into the repository await the pages that they would lead to.
  const html = rendered.get(oid) ?? renderMarkdown(decodeText(content), { page: () => null, image: () => null });
  rendered.delete(oid);
  rendered.set(oid, html);
  if (rendered.size > maxRemembered) rendered.delete(rendered.keys().next().value ?? '');
  return html;
}

/** @param content null when the file is larger than `maxReadmeBytes` */
export async function viewReadme({ name, oid }: TreeEntry, content: Buffer | null): Promise<ReadmeView> {
  const shown = viewName(name);
  if (content === null) return { name: shown, html: null, text: 'This file is too large to show here.' };
  if (markdownName.test(name)) return { name: shown, html: await renderOnce(oid, content), text: null };
  return { name: shown, html: null, text: decodeText(content) };
}
