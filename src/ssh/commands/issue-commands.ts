import { findTemplate, useTemplate } from '../../issues/index.ts';
import type { SshDeps } from '../deps.ts';
import { commentOn, listAll, formatIssueReference, sendAll, showOne } from './issue-or-pull-commands.ts';
import { assigneesOf, authorOf, labelsOf, time } from './format-issue.ts';
import type { IssueCommand } from './parse-issue-command.ts';
import { readStdin } from './read-stdin.ts';
import type { AuthenticatedSession } from './session.ts';

/**
 * Issue commands for the owner of the key: the same use cases as the pages, with the same permissions and limits. Lists
 * are tab-separated lines without headers; a change prints one line.
 */
export const serveIssueCommand = (
  deps: SshDeps,
  command: IssueCommand,
  session: AuthenticatedSession,
): Promise<number> => sendAll(session, output(deps, command, session));

async function* output(deps: SshDeps, command: IssueCommand, session: AuthenticatedSession): AsyncGenerator<string> {
  const { issues } = deps;
  const { viewer } = session;
  const { owner, name } = command;
  if (command.kind === 'issue list') {
    const { state, labels } = command;
    return yield* listAll(deps, command, { state, labels }, session, async (page) =>
      page.map((issue) => [
        String(issue.number),
        issue.state.toLowerCase(),
        issue.title,
        authorOf(issue),
        labelsOf(issue),
        time(issue.updatedAt),
      ]),
    );
  }
  if (command.kind === 'issue new') {
    const { title, labels, assignees, milestone, template: file } = command;
    // Permissions are checked before stdin is read, so that no text is typed in vain.
    const found = await deps.repositories.find(viewer, owner, name);
    const template = file === null ? null : await findTemplate(deps, found, file);
    const body = await readStdin(session);
    const text = template === null ? { body } : useTemplate(template, { body });
    const { number } = await issues.open(viewer, { owner, name }, { title, ...text, labels, assignees, milestone });
    return yield `Opened ${owner}/${name}#${number}.\n`;
  }
  const at = { owner, name, number: command.number };
  const it = formatIssueReference(at);
  switch (command.kind) {
    case 'issue show': {
      const [issue] = await issues.describe([await issues.find(viewer, at)]);
      return yield* showOne(deps, at, session, { noun: 'issue', issue: issue!, state: issue!.state.toLowerCase() });
    }
    case 'issue comment':
      await issues.find(viewer, at);
      return yield* commentOn(deps, at, command.state, session);
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
