import { findTemplate, noFilter, useTemplate } from '../../issues/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { SshDeps } from '../deps.ts';
import { assigneesOf, authorOf, commentsOf, labelsOf, pageSize, rows, time } from './issue-text.ts';
import type { IssueCommand } from './parse-issue-command.ts';
import { plainText } from './plain-text.ts';
import { readText } from './read-text.ts';
import type { AuthenticatedSession } from './session.ts';
import { send } from './write-output.ts';

/**
 * The commands about issues, for the owner of the key: the same use-cases as the pages, with the same rights and
 * limits. Lists are tab-separated lines without headers; what was changed is one line.
 */
export async function serveIssueCommand(
  deps: SshDeps,
  command: IssueCommand,
  session: AuthenticatedSession,
): Promise<number> {
  // Without a handle a person cannot write anything (SPEC §2.4).
  if (session.viewer.username === null)
    throw conflict('handle_missing', 'Sign in on the web page and choose a username first.');
  for await (const text of output(deps, command, session)) await send(plainText(text), session);
  return 0;
}

async function* output(deps: SshDeps, command: IssueCommand, session: AuthenticatedSession): AsyncGenerator<string> {
  const { issues } = deps;
  const { viewer } = session;
  const { owner, name } = command;
  if (command.kind === 'issue list') return yield* everyPage(deps, command, session);
  if (command.kind === 'issue new') {
    const { title, labels, assignees, milestone, template: file } = command;
    // Rights are checked before stdin is read, so that no text is typed in vain.
    const found = await deps.repositories.find(viewer, owner, name);
    const template = file === null ? null : await findTemplate(deps, found, file);
    const body = await readText(session);
    const text = template === null ? { body } : useTemplate(template, { body });
    const { number } = await issues.open(viewer, { owner, name }, { title, ...text, labels, assignees, milestone });
    return yield `Opened ${owner}/${name}#${number}.\n`;
  }
  const at = { owner, name, number: command.number };
  const it = `${owner}/${name}#${command.number}`;
  switch (command.kind) {
    case 'issue show':
      return yield* shown(deps, at, session);
    case 'issue comment': {
      await issues.find(viewer, at);
      const body = await readText(session);
      const { state } = command;
      const { position } = await issues.comment(viewer, at, { body, ...(state !== null && { state }) });
      return yield `Commented on ${it} (e${position}).\n`;
    }
    case 'issue close':
      await issues.close(viewer, at, command.reason);
      return yield `Closed ${it}.\n`;
    case 'issue reopen':
      await issues.reopen(viewer, at);
      return yield `Reopened ${it}.\n`;
    case 'issue label':
    case 'issue assign': {
      const change = { add: command.add, remove: command.remove };
      await issues.triage(viewer, at, command.kind === 'issue label' ? { labels: change } : { assignees: change });
      const [issue] = await issues.describe([await issues.find(viewer, at)]);
      return yield `${it}: ${(command.kind === 'issue label' ? labelsOf : assigneesOf)(issue!) || 'none'}\n`;
    }
  }
}

async function* everyPage(
  { issues }: SshDeps,
  { owner, name, state, labels }: Extract<IssueCommand, { kind: 'issue list' }>,
  { viewer }: AuthenticatedSession,
): AsyncGenerator<string> {
  let after: string | null = null;
  do {
    const filter = { ...noFilter, state, labels };
    const page: Awaited<ReturnType<typeof issues.list>> = await issues.list(viewer, { owner, name }, filter, {
      limit: pageSize,
      after,
    });
    yield rows(
      (await issues.describe(page.rows)).map((issue) => [
        String(issue.number),
        issue.state.toLowerCase(),
        issue.title,
        authorOf(issue),
        labelsOf(issue),
        time(issue.updatedAt),
      ]),
    );
    after = page.next;
  } while (after !== null);
}

async function* shown(deps: SshDeps, at: IssueAt, session: AuthenticatedSession): AsyncGenerator<string> {
  const [issue] = await deps.issues.describe([await deps.issues.find(session.viewer, at)]);
  const { title, state, milestone, createdAt, updatedAt, body } = issue!;
  yield rows([
    ['issue', `${at.owner}/${at.name}#${at.number}`],
    ['title', title],
    ['state', state.toLowerCase()],
    ['author', authorOf(issue!)],
    ['opened', time(createdAt)],
    ['changed', time(updatedAt)],
    ['labels', labelsOf(issue!)],
    ['assignees', assigneesOf(issue!)],
    ['milestone', milestone?.title ?? ''],
  ]);
  yield `\n${body}${body === '' ? '' : '\n'}`;
  yield* commentsOf(deps, at, session);
}
