import type { MergeStyle } from '../../git/index.ts';
import type { Issue } from '../../issues/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { RoundCommit } from '../rounds/read-round.ts';
import type { PullRow } from '../schema/pull-schema.ts';

/** Message of a merge commit. */
export interface MergeMessage {
  title: string;
  body: string;
}

export const mergeStyles: readonly MergeStyle[] = ['MERGE', 'SQUASH', 'REBASE', 'FORWARD'];

/** Limit of a submitted message in characters. */
const maxMessage = 65_536;
const maxTitle = 500;
/** Limit of a default message in characters. */
const maxDefault = 20_000;

/** Throws `invalid_merge_style`. */
export function parseStyle(text: string): MergeStyle {
  const style = mergeStyles.find((each) => each === text.toUpperCase());
  if (style === undefined)
    throw invalid('invalid_merge_style', 'Choose merge, squash, rebase or forward.', { field: 'style' });
  return style;
}

/** A message in the form in which git stores it. Throws `text_too_long`. */
export function formatMessage({ title, body }: MergeMessage, coAuthors: readonly string[] = []): string {
  if (title.length > maxTitle || body.length > maxMessage)
    throw invalid('text_too_long', 'The commit message is too long.', { field: 'body' });
  const text = body.replace(/\r\n?/g, '\n').trim();
  const trailers = coAuthors.filter((line) => !text.includes(line));
  const parts = [title.replace(/\s+/g, ' ').trim(), text];
  if (trailers.length > 0) {
    // Trailers form one block at the end, because git reads no others.
    if (splitTrailers(`title\n\n${text}`).trailers.length > 0) parts[1] = `${text}\n${trailers.join('\n')}`;
    else parts.push(trailers.join('\n'));
  }
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Accounts by commit address; several addresses may belong to one account. */
type People = ReadonlyMap<string, { id: string }>;

const keyOf = (email: string, people: People): string => people.get(email)?.id ?? email.toLowerCase();

const coAuthor = /^co-authored-by: .*<([^<>]*)>\s*$/i;

/** Addresses in commits, of authors and named co-authors. */
export const addressesOf = (commits: readonly RoundCommit[]): string[] =>
  commits.flatMap(({ commit }) => [
    commit.author.email,
    ...splitTrailers(commit.message).trailers.flatMap((line) => coAuthor.exec(line)?.[1] ?? []),
  ]);

/**
 * `Co-authored-by` lines for the authors of commits, each person once; excludes the author of the new commit and people
 * whom its text already names.
 * @param author `personId` null for the server
 */
export function coAuthorsOf(
  commits: readonly RoundCommit[],
  author: { email: string; personId: string | null },
  people: People,
  text: string,
): string[] {
  const named = text.split('\n').flatMap((line) => coAuthor.exec(line)?.[1] ?? []);
  const known = new Set([author.personId, ...[author.email, ...named].map((email) => keyOf(email, people))]);
  const lines: string[] = [];
  for (const { commit } of commits) {
    const { name, email } = commit.author;
    const key = keyOf(email, people);
    if (!known.has(key)) lines.push(`Co-authored-by: ${name} <${email}>`);
    known.add(key);
  }
  return lines;
}

/**
 * Splits a message into its text and the trailers of its last paragraph, by the rules of git
 * (git-interpret-trailers(1)).
 */
function splitTrailers(message: string): { text: string; trailers: string[] } {
  const whole = message.replace(/\r\n?/g, '\n').trim();
  const at = whole.lastIndexOf('\n\n');
  const lines = at < 0 ? [] : whole.slice(at).trim().split('\n');
  const isBlock =
    lines.length > 0 &&
    /^[A-Za-z0-9-]+: /.test(lines[0]!) &&
    lines.every((line) => /^(?:[A-Za-z0-9-]+:|\s) ?\S/.test(line));
  if (!isBlock) return { text: whole, trailers: [] };
  const trailers: string[] = [];
  for (const line of lines) {
    if (/^\s/.test(line)) trailers.push(`${trailers.pop()}\n${line}`);
    else trailers.push(line);
  }
  return { text: whole.slice(0, at).trim(), trailers };
}

/**
 * The trailers of several commits, each once and co-authors once per account; omits the author of the new commit, and
 * change ids, which belong to one commit.
 */
function gatherTrailers(trailers: readonly string[], authorId: string | null, people: People): string[] {
  const gathered = new Map<string, string>();
  for (const line of trailers) {
    if (/^change-id:/i.test(line)) continue;
    const email = coAuthor.exec(line)?.[1];
    const person = email === undefined ? null : keyOf(email, people);
    if (person !== null && person === authorId) continue;
    const key = person === null ? line.replace(/^[^:]*/, (token) => token.toLowerCase()) : `co-author ${person}`;
    if (!gathered.has(key)) gathered.set(key, line);
  }
  return [...gathered.values()];
}

/** Default messages of the merge form: the title with the number, and for a squash the messages of the commits. */
export function defaultMessages(
  { title, number, authorId }: Pick<Issue, 'title' | 'number' | 'authorId'>,
  pull: Pick<PullRow, 'baseBranch'>,
  headLabel: string,
  commits: readonly RoundCommit[],
  defaultBranch: string,
  people: People,
): Record<MergeStyle, MergeMessage> {
  const into = pull.baseBranch === defaultBranch ? '' : ` into ${pull.baseBranch}`;
  const [only] = commits;
  const squashed = commits.length === 1 ? bodyOf(only!.commit.message) : listOf(commits, authorId, people);
  return {
    MERGE: { title: `Merge pull request #${number} from ${headLabel}${into}`, body: title },
    SQUASH: { title: `${title} (#${number})`, body: squashed.slice(0, maxDefault) },
    REBASE: { title: '', body: '' },
    FORWARD: { title: '', body: '' },
  };
}

/** Lists the messages of several commits; moves their trailers to the end, because git reads only the last block. */
function listOf(commits: readonly RoundCommit[], authorId: string | null, people: People): string {
  const messages = commits.map(({ commit }) => splitTrailers(commit.message));
  const trailers = gatherTrailers(
    messages.flatMap((message) => message.trailers),
    authorId,
    people,
  ).join('\n');
  const list = messages.map(({ text }) => `* ${text.replace(/\n/g, '\n  ')}`).join('\n\n');
  return trailers === '' ? list : `${list.slice(0, Math.max(0, maxDefault - trailers.length - 2))}\n\n${trailers}`;
}

function bodyOf(message: string): string {
  const blank = message.indexOf('\n\n');
  return blank === -1 ? '' : message.slice(blank).trim();
}
