import { noFilter } from '../../issues/index.ts';
import type { DescribedIssue, FoundIssue, IssueAt, IssueFilter } from '../../issues/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { SshDeps } from '../deps.ts';
import { assigneesOf, authorOf, commentsOf, labelsOf, pageSize, rows, time } from './format-issue.ts';
import { plainText } from './plain-text.ts';
import { readStdin } from './read-stdin.ts';
import type { AuthenticatedSession } from './session.ts';
import { send } from './write-output.ts';

/** Shared code of the commands about issues and those about pull requests. */

/** `alice/garden#7`. */
export const formatIssueReference = ({ owner, name, number }: IssueAt): string => `${owner}/${name}#${number}`;

/** Prints the output of a command, without characters that a terminal would interpret. Throws `handle_missing`. */
export async function sendAll(session: AuthenticatedSession, texts: AsyncIterable<string>): Promise<number> {
  // A user without a username cannot write anything (SPEC §2.4).
  if (session.viewer.username === null)
    throw conflict('handle_missing', 'Sign in on the web page and choose a username first.');
  for await (const text of texts) await send(plainText(text), session);
  return 0;
}

/**
 * Every page of a list, as tab-separated lines without headers.
 * @param cellsOf returns the cells of a page's rows
 */
export async function* listAll(
  { issues }: Pick<SshDeps, 'issues'>,
  { owner, name }: { owner: string; name: string },
  wanted: Partial<IssueFilter>,
  { viewer }: AuthenticatedSession,
  cellsOf: (issues: readonly DescribedIssue[], found: readonly FoundIssue[]) => Promise<string[][]>,
): AsyncGenerator<string> {
  const filter = { ...noFilter, ...wanted };
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof issues.list>> = await issues.list(viewer, { owner, name }, filter, {
      limit: pageSize,
      after,
    });
    yield rows(await cellsOf(await issues.describe(page.rows), page.rows));
    after = page.next;
  } while (after !== null);
}

/**
 * One issue or pull request: a line for each property, its text, and its comments.
 * @param cells properties between the author and the times
 */
export async function* showOne(
  deps: Pick<SshDeps, 'issues' | 'accounts'>,
  at: IssueAt,
  session: AuthenticatedSession,
  { noun, issue, state, cells = [] }: { noun: string; issue: DescribedIssue; state: string; cells?: string[][] },
): AsyncGenerator<string> {
  const { title, milestone, createdAt, updatedAt, body } = issue;
  yield rows([
    [noun, formatIssueReference(at)],
    ['title', title],
    ['state', state],
    ['author', authorOf(issue)],
    ...cells,
    ['opened', time(createdAt)],
    ['changed', time(updatedAt)],
    ['labels', labelsOf(issue)],
    ['assignees', assigneesOf(issue)],
    ['milestone', milestone?.title ?? ''],
  ]);
  yield `\n${body}${body === '' ? '' : '\n'}`;
  yield* commentsOf(deps, at, session);
}

/**
 * Comments with the text of standard input, and closes or reopens. The caller has looked up the issue or pull request.
 */
export async function* commentOn(
  { issues }: Pick<SshDeps, 'issues'>,
  at: IssueAt,
  state: 'open' | 'completed' | null,
  session: AuthenticatedSession,
): AsyncGenerator<string> {
  const body = await readStdin(session);
  const { position } = await issues.comment(session.viewer, at, { body, ...(state !== null && { state }) });
  yield `Commented on ${formatIssueReference(at)} (e${position}).\n`;
}
