import { StringDecoder } from 'node:string_decoder';
import { noFilter } from '../../issues/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { conflict, isDomainError } from '../../kernel/index.ts';
import { explainBlock } from '../../pulls/index.ts';
import type { SshDeps } from '../deps.ts';
import { cloneAddress } from './clone-address.ts';
import { assigneesOf, authorOf, commentsOf, labelsOf, pageSize, rows, time } from './issue-text.ts';
import type { PullCommand } from './parse-pull-command.ts';
import { plainText } from './plain-text.ts';
import { readText } from './read-text.ts';
import type { AuthenticatedSession } from './session.ts';
import { send } from './write-output.ts';

/**
 * The commands about pull requests, for the owner of the key: the same use-cases as the pages, with the same rights and
 * limits. Lists are tab-separated lines without headers; what was changed is one line.
 */
export async function servePullCommand(
  deps: SshDeps,
  command: PullCommand,
  session: AuthenticatedSession,
): Promise<number> {
  // Without a handle a person cannot write anything (SPEC §2.4).
  if (session.viewer.username === null)
    throw conflict('handle_missing', 'Sign in on the web page and choose a username first.');
  for await (const text of output(deps, command, session)) await send(plainText(text), session);
  return 0;
}

async function* output(deps: SshDeps, command: PullCommand, session: AuthenticatedSession): AsyncGenerator<string> {
  const { issues, pulls } = deps;
  const { viewer } = session;
  const { owner, name } = command;
  if (command.kind === 'pull list') return yield* everyPage(deps, command, session);
  if (command.kind === 'pull new') {
    const { title, head, base, isDraft } = command;
    // Rights are checked before stdin is read, so that no text is typed in vain.
    await deps.repositories.find(viewer, owner, name);
    const body = await readText(session);
    const { issue } = await pulls.open(viewer, { owner, name }, { title, body, head, base, isDraft });
    return yield `Opened ${owner}/${name}#${issue.number}.\n`;
  }
  const at = { owner, name, number: command.number };
  const it = `${owner}/${name}#${command.number}`;
  const { pull } = await pulls.find(viewer, at);
  switch (command.kind) {
    case 'pull show':
      return yield* shown(deps, at, session);
    case 'pull diff':
      return yield* diff(deps, at, command.round, session);
    case 'pull checkout':
      yield `git fetch ${cloneAddress(deps.config, session.port, at)} refs/pull/${at.number}/head:pull/${at.number}\n`;
      return yield `git checkout pull/${at.number}\n`;
    case 'pull comment': {
      const body = await readText(session);
      const { state } = command;
      const { position } = await issues.comment(viewer, at, { body, ...(state !== null && { state }) });
      return yield `Commented on ${it} (e${position}).\n`;
    }
    case 'pull close':
      await issues.close(viewer, at);
      return yield `Closed ${it}.\n`;
    case 'pull reopen':
      await issues.reopen(viewer, at);
      return yield `Reopened ${it}.\n`;
    case 'pull ready':
      await pulls.edit(viewer, at, { isDraft: false });
      return yield `${it} is ready for review.\n`;
    case 'pull draft':
      await pulls.edit(viewer, at, { isDraft: true });
      return yield `${it} is a draft.\n`;
    case 'pull merge':
      return yield* merge(deps, command, pull, session);
  }
}

async function* merge(
  { pulls }: SshDeps,
  { owner, name, number, style, title, round, whenReady, deletesBranch }: Extract<PullCommand, { kind: 'pull merge' }>,
  { lastRound, baseBranch }: { lastRound: number; baseBranch: string },
  { viewer }: AuthenticatedSession,
): AsyncGenerator<string> {
  const at = { owner, name, number };
  const it = `${owner}/${name}#${number}`;
  const input = { style, title, round: round ?? lastRound };
  if (whenReady) {
    await pulls.mergeWhenReady(viewer, at, input);
    return yield `${it} is merged once nothing stands in the way.\n`;
  }
  const { oid } = await pulls.merge(viewer, at, input);
  yield `Merged ${it} into ${baseBranch} as ${oid.slice(0, 10)}.\n`;
  if (!deletesBranch) return;
  try {
    await pulls.deleteBranch(viewer, at);
    yield 'Deleted its branch.\n';
  } catch (error) {
    // It is merged already.
    if (!isDomainError(error)) throw error;
    yield `The branch stays: ${error.message}\n`;
  }
}

async function* everyPage(
  { issues, pulls }: SshDeps,
  { owner, name, state, labels }: Extract<PullCommand, { kind: 'pull list' }>,
  { viewer }: AuthenticatedSession,
): AsyncGenerator<string> {
  let after: string | null = null;
  do {
    const filter = { ...noFilter, kind: 'pull' as const, state, labels };
    const page: Awaited<ReturnType<typeof issues.list>> = await issues.list(viewer, { owner, name }, filter, {
      limit: pageSize,
      after,
    });
    const described = await pulls.describe(viewer, page.rows);
    yield rows(
      (await issues.describe(page.rows)).map((issue) => {
        const pull = described.get(issue.id);
        return [
          String(issue.number),
          issue.state === 'OPEN' && pull?.pull.isDraft ? 'draft' : issue.state.toLowerCase(),
          issue.title,
          authorOf(issue),
          pull?.head.label ?? '',
          pull?.pull.baseBranch ?? '',
          labelsOf(issue),
          time(issue.updatedAt),
        ];
      }),
    );
    after = page.next;
  } while (after !== null);
}

async function* shown(deps: SshDeps, at: IssueAt, session: AuthenticatedSession): AsyncGenerator<string> {
  const { issues, pulls } = deps;
  const { viewer } = session;
  const box = await pulls.mergeBox(viewer, at);
  const { issue: found, pull } = await pulls.find(viewer, at);
  const [issue] = await issues.describe([found]);
  const { title, state, milestone, createdAt, updatedAt, body } = issue!;
  const blocks = box.verdict.blocks.map(explainBlock).join(' ');
  yield rows([
    ['pull request', `${at.owner}/${at.name}#${at.number}`],
    ['title', title],
    ['state', state === 'OPEN' && pull.isDraft ? 'draft' : state.toLowerCase()],
    ['author', authorOf(issue!)],
    ['branch', `${box.head.label} into ${pull.baseBranch}`],
    ['head', pull.headOid],
    ['round', String(pull.lastRound)],
    ['merge', state !== 'OPEN' ? '' : blocks || 'nothing stands in the way'],
    ['conflicts', box.state.conflicts.join(',')],
    ['checks', box.checks.map(({ context, state: result }) => `${context}=${result}`).join(',')],
    ['opened', time(createdAt)],
    ['changed', time(updatedAt)],
    ['labels', labelsOf(issue!)],
    ['assignees', assigneesOf(issue!)],
    ['milestone', milestone?.title ?? ''],
  ]);
  yield `\n${body}${body === '' ? '' : '\n'}`;
  yield* commentsOf(deps, at, session);
}

/** The changes of a round, to read: what a terminal would interpret is replaced, as in all that is printed here. */
async function* diff(
  { pulls, repositories, git }: SshDeps,
  at: IssueAt,
  wanted: number | undefined,
  { viewer }: AuthenticatedSession,
): AsyncGenerator<string> {
  const { baseOid, headOid } = await pulls.rounds.find(viewer, at, wanted);
  const { path } = await repositories.find(viewer, at.owner, at.name);
  const decoder = new StringDecoder('utf8');
  const parts = await git.queries.plainDiff(path, { from: baseOid, to: headOid });
  for await (const part of parts as AsyncIterable<Buffer>) yield decoder.write(part);
  yield decoder.end();
}
