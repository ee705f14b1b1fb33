/** Escapes text as HTML, for `summary` fields. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

const characters: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

/** Reverts `escapeHtml`. */
export const unescapeHtml = (html: string): string =>
  html.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => characters[entity]!);

/** A time in the format of activities: ISO 8601 in UTC, whole seconds. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
