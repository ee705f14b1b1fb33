import type { DocumentSection, HelpDocument } from './documents.ts';

interface FoundSection {
  document: HelpDocument;
  section: DocumentSection;
  /** The text around the first match. */
  excerpt: string;
}

export const maxQuery = 200;
const maxWords = 8;
const maxFound = 30;
const around = 120;

/** The words of a query, in lower case. */
const wordsOfQuery = (query: string): string[] =>
  query.toLowerCase().slice(0, maxQuery).split(/\s+/).filter(Boolean).slice(0, maxWords);

/**
 * Sections that contain every word, in any order and case: those with more of them in the heading first. Scans some 300
 * KiB, in linear time.
 */
export function searchDocuments(documents: readonly HelpDocument[], query: string): FoundSection[] {
  const words = wordsOfQuery(query);
  if (words.length === 0) return [];
  const found: (FoundSection & { rank: number })[] = [];
  for (const document of documents) {
    for (const section of document.sections) {
      const title = section.title.toLowerCase();
      const text = section.text.toLowerCase();
      if (!words.every((word) => title.includes(word) || text.includes(word))) continue;
      const inTitle = words.filter((word) => title.includes(word)).length;
      found.push({ document, section, excerpt: excerptOf(section.text, words), rank: inTitle });
    }
  }
  return found.sort((one, other) => other.rank - one.rank).slice(0, maxFound);
}

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const middle = places.length === 0 ? 0 : Math.min(...places);
  const start = middle <= around ? 0 : text.indexOf(' ', middle - around) + 1;
  const end = text.length <= middle + around ? text.length : text.lastIndexOf(' ', middle + around);
  return `${start > 0 ? '… ' : ''}${text.slice(start, Math.max(end, middle))}${end < text.length ? ' …' : ''}`;
}
