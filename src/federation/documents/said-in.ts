import { cleanText } from './json-fields.ts';

const shownCharacters = 200;

/** The beginning of the error message in a response of the other server; empty for an HTML page. */
export function saidIn(body: Buffer): string {
  const text = cleanText(body.subarray(0, 4 * shownCharacters).toString('utf8'), shownCharacters).replaceAll('\n', ' ');
  return text === '' || text.startsWith('<') ? '' : `: ${text}`;
}
