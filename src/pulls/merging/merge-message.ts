import type { MergeStyle } from '../../git/index.ts';
import type { Issue } from '../../issues/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { RoundCommit } from '../rounds/read-round.ts';
import type { PullRow } from '../schema/pull-schema.ts';

/** A message of a commit that a merge makes. */
export interface MergeMessage {
  title: string;
  body: string;
}

export const mergeStyles: readonly MergeStyle[] = ['MERGE', 'SQUASH', 'REBASE', 'FORWARD'];

/** Characters of a message that a form may bring. */
const maxMessage = 65_536;
const maxTitle = 500;

/** Refuses `invalid_merge_style`. */
export function parseStyle(text: string): MergeStyle {
  const style = mergeStyles.find((each) => each === text.toUpperCase());
  if (style === undefined)
    throw invalid('invalid_merge_style', 'Choose merge, squash, rebase or forward.', { field: 'style' });
  return style;
}

/** A message as git stores it. Refuses `text_too_long`. */
export function formatMessage({ title, body }: MergeMessage, coAuthors: readonly string[] = []): string {
  if (title.length > maxTitle || body.length > maxMessage)
    throw invalid('text_too_long', 'The message of the commit is too long.', { field: 'body' });
  const text = body.replace(/\r\n?/g, '\n').trim();
  const trailers = coAuthors.filter((line) => !text.includes(line));
  const parts = [title.replace(/\s+/g, ' ').trim(), text];
  if (trailers.length > 0) {
    // Trailers form one block at the end: git reads no others.
    const isTrailer = /(?:^|\n\n)(?:[A-Za-z-]+: [^\n]+\n?)+$/.test(text) && text.includes(': ');
    if (isTrailer && text !== '') parts[1] = `${text}\n${trailers.join('\n')}`;
    else parts.push(trailers.join('\n'));
  }
  return parts.filter((part) => part !== '').join('\n\n');
}

/** `Co-authored-by` lines of the authors of commits, without the author of the new commit; each once. */
export function coAuthorsOf(commits: readonly RoundCommit[], author: { email: string }): string[] {
  const lines = new Map<string, string>();
  for (const { commit } of commits) {
    const { name, email } = commit.author;
    const key = email.toLowerCase();
    if (key !== author.email.toLowerCase() && !lines.has(key)) lines.set(key, `Co-authored-by: ${name} <${email}>`);
  }
  return [...lines.values()];
}

/** What the form of a merge begins with: the title with the number, and for a squash the messages of the commits. */
export function defaultMessages(
  { title, number }: Pick<Issue, 'title' | 'number'>,
  pull: Pick<PullRow, 'baseBranch'>,
  headLabel: string,
  commits: readonly RoundCommit[],
  defaultBranch: string,
): Record<MergeStyle, MergeMessage> {
  const into = pull.baseBranch === defaultBranch ? '' : ` into ${pull.baseBranch}`;
  const [only] = commits;
  const squashed =
    commits.length === 1
      ? bodyOf(only!.commit.message)
      : commits.map(({ commit }) => `* ${commit.message.trim().replace(/\n/g, '\n  ')}`).join('\n\n');
  return {
    MERGE: { title: `Merge pull request #${number} from ${headLabel}${into}`, body: title },
    SQUASH: { title: `${title} (#${number})`, body: squashed.slice(0, 20_000) },
    REBASE: { title: '', body: '' },
    FORWARD: { title: '', body: '' },
  };
}

function bodyOf(message: string): string {
  const blank = message.indexOf('\n\n');
  return blank === -1 ? '' : message.slice(blank).trim();
}
