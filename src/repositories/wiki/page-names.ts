import { invalid } from '../../kernel/index.ts';
import { parseFilePath } from '../contents/file-path.ts';

/** Sidebar and footer pages, shown on every page. */
export const sidebarTitle = '_Sidebar';
export const footerTitle = '_Footer';
/** The page at the wiki's root URL. */
export const homeTitle = 'Home';

const pageFile = /\.(?:md|markdown)$/i;
/** Suffix of a name whose hyphens are literal, as in Gitea. */
const keptHyphens = /\.-$/;
const maxTitleLength = 200;

export const isPageFile = (path: string): boolean => pageFile.test(path);

/**
 * The title of a page from its file name: without the extension, with spaces for hyphens and without Gitea's escapes.
 */
export function titleOfFile(path: string): string {
  return path
    .replace(pageFile, '')
    .split('/')
    .map((name) => unescapeName(keptHyphens.test(name) ? name.replace(keptHyphens, '') : name.replaceAll('-', ' ')))
    .join('/');
}

/** Gitea writes `How to/do it?` as the file `How-to%2Fdo-it%3F.md`. */
function unescapeName(name: string): string {
  if (!/%[0-9a-f]{2}/i.test(name)) return name;
  try {
    const plain = decodeURIComponent(name);
    return /[\p{Cc}\p{Cf}]/u.test(plain) ? name : plain;
  } catch {
    return name;
  }
}

/** The file name of a new page, from its title. */
function fileOfTitle(title: string): string {
  const names = title.split('/').map((name) => (name.includes('-') ? `${name}.-` : name.replaceAll(' ', '-')));
  return `${names.join('/')}.md`;
}

/**
 * Parses the title of a page to write, and its file name. Throws `invalid_page_title` if it is missing, too long, not
 * usable as a path or URL, displayed in another order than it is written, or begins with `_`, which is reserved for the
 * wiki's own pages except for the sidebar and the footer.
 */
export function parsePageTitle(text: string): { title: string; file: string } {
  const wrong = (message: string, cause?: unknown) =>
    invalid('invalid_page_title', message, { field: 'title', ...(cause !== undefined && { cause }) });
  const title = text
    .normalize('NFC')
    .split('/')
    .map((name) => name.trim().replace(/\s+/g, ' '))
    .join('/');
  if (title === '' || title.length > maxTitleLength)
    throw wrong(`Enter a title of at most ${maxTitleLength} characters.`);
  if (title.startsWith('_') && title !== sidebarTitle && title !== footerTitle)
    throw wrong('A title does not begin with "_".');
  // With the extension, a file could have such a name; its URL could not.
  if (title.split('/').some((name) => /^\.{0,2}$/.test(name)))
    throw wrong('No part of a title between slashes is empty, "." or "..".');
  if (/[\u200e\u200f\u2028-\u202e\u2066-\u2069]/.test(title))
    throw wrong('A title has no characters that change the order of a line.');
  if (/[?#%<>"|:*]/.test(title)) throw wrong('A title has none of the characters ? # % < > " | : *.');
  const file = fileOfTitle(title);
  try {
    parseFilePath(file);
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : 'This title cannot be used.', error);
  }
  return { title, file };
}
