import type { TreeEntry } from '../../git/index.ts';
import { renderOnce } from '../markdown/render-once.ts';
import type { DocumentPlace } from '../markdown/repository-links.ts';
import { readText } from './code/read-text.ts';
import { viewName } from './plain-text.ts';

/** A README as the page shows it: exactly one of `html` and `text` is set. */
export interface ReadmeView {
  name: string;
  /** Rendered and cleaned; the only HTML that a template prints as it is. */
  html: string | null;
  text: string | null;
}

/** Longer ones are shown by name only: rendering them would hold up everybody else. */
export const maxReadmeBytes = 128 * 1024;

const readmeName = /^readme(?:\.(?:md|markdown|mkd|txt|text))?$/i;
export const markdownName = /\.(?:md|markdown|mkd)$/i;

/** A README is text whatever its first bytes say. */
const decodeText = (content: Buffer): string => readText(content)?.text ?? content.toString('latin1');

const rank = ({ name }: TreeEntry): number => (markdownName.test(name) ? 0 : name.includes('.') ? 1 : 2);

/** The README of a folder, Markdown before plain text; a symbolic link is not followed. */
export function findReadme(entries: readonly TreeEntry[]): TreeEntry | null {
  const candidates = entries.filter(
    ({ name, kind }) => (kind === 'file' || kind === 'executable') && readmeName.test(name),
  );
  return candidates.sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

/** @param content null when the file is larger than `maxReadmeBytes` */
export async function viewReadme(
  { name, oid }: TreeEntry,
  content: Buffer | null,
  place: DocumentPlace,
): Promise<ReadmeView> {
  const shown = viewName(name);
  if (content === null) return { name: shown, html: null, text: 'This file is too large to show here.' };
  if (markdownName.test(name))
    return { name: shown, html: await renderOnce(oid, place, () => decodeText(content)), text: null };
  return { name: shown, html: null, text: decodeText(content) };
}
