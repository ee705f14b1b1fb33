import type { IssueDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { shortenOwnUrls } from './parse-issue-urls.ts';
import { parseClosing, parseReferences } from './parse-references.ts';
import type { IssueReference, Reference } from './parse-references.ts';

type ReadingDeps = Pick<IssueDeps, 'shownTexts' | 'settings'>;

type NamingReference = Exclude<Reference, { kind: 'commit' }>;

/**
 * Issues, users and teams that Markdown documents name in visible text: not in code, links, comments and tags. Uses the
 * same parse as the page. At most `referencesPerText` per document.
 */
export async function shownReferences(deps: ReadingDeps, documents: readonly string[]): Promise<NamingReference[]> {
  const found = await readEach(deps, documents, (text) =>
    parseReferences(text).filter((reference) => reference.kind !== 'commit'),
  );
  return found.flatMap((references) => references.slice(0, limits.referencesPerText));
}

/** Issues that documents close by keyword ("fixes #9") in visible text, at most `entriesPerText` per document. */
export async function shownClosing(deps: ReadingDeps, documents: readonly string[]): Promise<IssueReference[]> {
  const found = await readEach(deps, documents, parseClosing);
  return found.flatMap((references) => references.slice(0, limits.entriesPerText));
}

async function readEach<Found>(
  { shownTexts, settings }: ReadingDeps,
  documents: readonly string[],
  parse: (text: string) => Found[],
): Promise<Found[][]> {
  const found: Found[][] = [];
  for (const document of documents) {
    // Most texts contain no references.
    if (!/[#@]/.test(document) && !names(document, settings.baseUrl)) continue;
    const source = shortenOwnUrls(document, settings.baseUrl);
    found.push((isPlainLine(source) ? [source] : await shownTexts(source)).flatMap(parse));
  }
  return found;
}

/**
 * Every Markdown parser reads letters, digits and plain punctuation in one line as text: no worker thread is needed.
 */
const isPlainLine = (source: string): boolean => /^(?!.* {4})[\p{L}\p{N}@#.,!?'()/ -]*$/u.test(source);

const names = (document: string, baseUrl: string | null): boolean => baseUrl !== null && document.includes(baseUrl);
