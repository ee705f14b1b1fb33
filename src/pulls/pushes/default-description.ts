import { issueLimits } from '../../issues/index.ts';
import type { RoundCommit } from '../rounds/read-round.ts';

/**
 * Default title and text of a pull request: the title is the subject of a single commit, else the topic, else the
 * subject of the newest commit; the text is the rest of the messages. Removes characters that the text of an issue may
 * not contain.
 */
export function defaultDescription(
  commits: readonly RoundCommit[],
  { topic, baseBranch }: { topic: string | null; baseBranch: string },
): { title: string; body: string } {
  const newest = commits.at(-1);
  const title = commits.length === 1 ? newest?.subject : (topic ?? newest?.subject);
  const bodies = commits.map(({ subject, commit }) => ({ subject, body: bodyOf(commit.message) }));
  const texts = bodies.flatMap(({ subject, body }) =>
    body === '' ? [] : [commits.length === 1 ? body : `**${subject}**\n\n${body}`],
  );
  return {
    title:
      cut([...cleanText(title ?? '').replaceAll('\n', ' ')], issueLimits.titleCharacters) ||
      `Changes for ${baseBranch}`,
    body: cutBytes(cleanText(texts.join('\n\n')), issueLimits.bodyBytes),
  };
}

/** The message without its first paragraph and without trailers for programs. */
function bodyOf(message: string): string {
  const [, ...paragraphs] = message
    .replaceAll('\r\n', '\n')
    .trim()
    .split(/\n[\t ]*\n/);
  return paragraphs
    .join('\n\n')
    .replace(/^Change-Id: *\w+ *$/gm, '')
    .trim();
}

/** Removes characters that the text of an issue may not contain. */
export const cleanText = (text: string): string =>
  text
    .toWellFormed()
    .normalize('NFC')
    .replace(/[^\P{Cc}\n\t]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, ' ')
    .trim();

const cut = (characters: readonly string[], most: number): string => characters.slice(0, most).join('').trim();

/** Truncates to a number of bytes, without a partial character at the end. */
export const cutBytes = (text: string, most: number): string =>
  Buffer.byteLength(text) <= most
    ? text
    : Buffer.from(text)
        .subarray(0, most - 4)
        .toString('utf8')
        .replace(/\ufffd+$/, '')
        .trim();
