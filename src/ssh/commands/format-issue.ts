import type { DescribedIssue, IssueAt, ListedEntry } from '../../issues/index.ts';
import type { SshDeps } from '../deps.ts';
import type { AuthenticatedSession } from './session.ts';

/** Rows per call of `issues.list` and `issues.listEntries`. */
export const pageSize = 100;

export const labelsOf = ({ labels }: DescribedIssue): string => labels.map(({ name }) => name).join(',');
export const assigneesOf = ({ assigned }: DescribedIssue): string =>
  assigned.map(({ username }) => username ?? '').join(',');
export const authorOf = ({ author, authorName }: DescribedIssue): string => author?.username ?? authorName ?? 'ghost';

/** Tab-separated lines; escapes cells so that they end neither the cell nor the line. */
export const rows = (cells: readonly (readonly string[])[]): string =>
  cells.map((row) => `${row.map((cell) => cell.replace(/[\t\r\n]+/g, ' ')).join('\t')}\n`).join('');

export const time = (epochMs: number): string => new Date(epochMs).toISOString().replace(/\.\d+Z$/, 'Z');

/** The comments of an issue or pull request, each below a line that names its author. */
export async function* commentsOf(
  { issues, accounts }: Pick<SshDeps, 'issues' | 'accounts'>,
  at: IssueAt,
  { viewer }: Pick<AuthenticatedSession, 'viewer'>,
): AsyncGenerator<string> {
  let from: number | null = 1;
  while (from !== null) {
    const page: { entries: ListedEntry[]; next: number | null } = await issues.listEntries(viewer, at, {
      from,
      limit: pageSize,
      kinds: ['comment'],
    });
    const written = page.entries.filter(({ deletedAt }) => deletedAt === null);
    const writers = await accounts.peopleById(written.flatMap(({ authorId }) => authorId ?? []));
    for (const { position, authorId, authorName, createdAt, body: text, hiddenFor } of written) {
      const writer = (authorId === null ? authorName : writers.get(authorId)?.username) ?? 'ghost';
      const hidden = hiddenFor === null ? '' : ` (hidden: ${hiddenFor})`;
      yield `\n--- ${writer}, ${time(createdAt)}, e${position}${hidden}\n${text ?? ''}\n`;
    }
    from = page.next;
  }
}
