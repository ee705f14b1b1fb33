import { StringDecoder } from 'node:string_decoder';
import type { IssueAt } from '../../issues/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import { explainBlock, isPatchReply, pullLimits } from '../../pulls/index.ts';
import type { SshDeps } from '../deps.ts';
import { cloneAddress } from './clone-address.ts';
import { commentOn, listAll, formatIssueReference, sendAll, showOne } from './issue-or-pull-commands.ts';
import { authorOf, labelsOf, rows, time } from './format-issue.ts';
import type { PullCommand } from './parse-pull-command.ts';
import { runMergeQueueCommand } from './merge-queue-command.ts';
import { readStdin } from './read-stdin.ts';
import type { AuthenticatedSession } from './session.ts';

/**
 * Pull request commands for the owner of the key: the same use cases as the pages, with the same permissions and
 * limits. Lists are tab-separated lines without headers; a change prints one line.
 */
export const servePullCommand = (deps: SshDeps, command: PullCommand, session: AuthenticatedSession): Promise<number> =>
  sendAll(session, output(deps, command, session));

type Of<Kind extends PullCommand['kind']> = Extract<PullCommand, { kind: Kind }>;

async function* output(deps: SshDeps, command: PullCommand, session: AuthenticatedSession): AsyncGenerator<string> {
  const { issues, pulls } = deps;
  const { viewer } = session;
  const { owner, name } = command;
  if (command.kind === 'pull list') return yield* list(deps, command, session);
  if (command.kind === 'pull new') {
    const { title, head, base, isDraft } = command;
    // Permissions are checked before stdin is read, so that no text is typed in vain.
    await deps.repositories.find(viewer, owner, name);
    const body = await readStdin(session);
    const { issue } = await pulls.open(viewer, { owner, name }, { title, body, head, base, isDraft });
    return yield `Opened ${owner}/${name}#${issue.number}.\n`;
  }
  if (command.kind === 'pull queue') return yield* runMergeQueueCommand(deps, command, session);
  const at = { owner, name, number: command.number };
  const it = formatIssueReference(at);
  const { pull } = await pulls.find(viewer, at);
  switch (command.kind) {
    case 'pull show':
      return yield* show(deps, at, session);
    case 'pull stack':
      return yield rows(
        (await pulls.stack(viewer, at)).map(({ number, title, state, below }) => [
          String(number),
          state.toLowerCase(),
          title,
          below.map((lower) => `#${lower}`).join(','),
        ]),
      );
    case 'pull diff':
      return yield* diff(deps, command, session);
    case 'pull checkout':
      yield `git fetch ${cloneAddress(deps.config, session.port, at)} refs/pull/${at.number}/head:pull/${at.number}\n`;
      return yield `git checkout pull/${at.number}\n`;
    case 'pull comment':
      return yield* commentOn(deps, at, command.state, session);
    case 'pull review':
      return yield* review(deps, command, pull, session);
    case 'pull reviewers':
      await pulls.attention.request(viewer, at, command);
      return yield `${it} waits for ${(await pulls.reviews.text(viewer, at)).waitingFor.join(', ') || 'no review'}.\n`;
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
    case 'pull retarget':
      await pulls.edit(viewer, at, { base: command.base });
      return yield `${it} merges into ${command.base}.\n`;
    case 'pull update': {
      const { oid } = await pulls.updateBranch(viewer, at, { style: command.style, round: pull.lastRound });
      return yield `Updated ${it}: its head is ${oid.slice(0, 10)}.\n`;
    }
    case 'pull merge':
      return yield* merge(deps, command, pull, session);
  }
}

async function* merge(
  { pulls }: SshDeps,
  { owner, name, number, style, title, round, whenReady, deletesBranch }: Of<'pull merge'>,
  { lastRound, baseBranch }: { lastRound: number; baseBranch: string },
  { viewer }: AuthenticatedSession,
): AsyncGenerator<string> {
  const at = { owner, name, number };
  const it = formatIssueReference(at);
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
    // The pull request is already merged.
    if (!isDomainError(error)) throw error;
    yield `The branch stays: ${error.message}\n`;
  }
}

/** An approval has no text; other reviews are read from standard input. */
async function* review(
  { pulls }: SshDeps,
  { verdict, round: wanted, ...at }: Of<'pull review'>,
  { lastRound }: { lastRound: number },
  session: AuthenticatedSession,
): AsyncGenerator<string> {
  const round = wanted ?? lastRound;
  const mostBytes = pullLimits.answeredPatchBytes;
  const body = verdict === 'APPROVE' ? '' : await readStdin(session, undefined, mostBytes);
  const { reviews } = pulls;
  if (isPatchReply(body)) await reviews.submitAnswers(session.viewer, at, { text: body, verdict, round: wanted });
  else await reviews.submit(session.viewer, at, { verdict, body, round, confirm: wanted !== undefined });
  const said = { APPROVE: 'Approved', REQUEST_CHANGES: 'Requested changes on', COMMENT: 'Reviewed' }[verdict];
  yield `${said} ${formatIssueReference(at)} (round ${round}).\n`;
}

function list(deps: SshDeps, command: Of<'pull list'>, session: AuthenticatedSession): AsyncGenerator<string> {
  const { state, labels, base, head } = command;
  const filter = { kind: 'pull' as const, state, labels, base, head };
  return listAll(deps, command, filter, session, async (page, found) => {
    const described = await deps.pulls.describe(session.viewer, found);
    return page.map((issue) => {
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
    });
  });
}

async function* show(deps: SshDeps, at: IssueAt, session: AuthenticatedSession): AsyncGenerator<string> {
  const { issues, pulls } = deps;
  const { viewer } = session;
  const box = await pulls.mergeBox(viewer, at);
  const { issue: found, pull } = await pulls.find(viewer, at);
  const [issue] = await issues.describe([found]);
  const reviewed = await pulls.reviews.text(viewer, at);
  const isOpen = found.state === 'OPEN';
  const blocks = box.verdict.blocks.map(explainBlock).join(' ');
  const cells = [
    ['branch', `${box.head.label} into ${pull.baseBranch}`],
    ['head', pull.headOid],
    ['round', String(pull.lastRound)],
    ['reviews', reviewed.summary],
    ['waiting for', reviewed.waitingFor.join(',')],
    ['merge', !isOpen ? '' : blocks || 'nothing stands in the way'],
    ['conflicts', box.state.conflicts.join(',')],
    ['checks', box.checks.map(({ context, state }) => `${context}=${state}`).join(',')],
  ];
  const state = isOpen && pull.isDraft ? 'draft' : found.state.toLowerCase();
  yield* showOne(deps, at, session, { noun: 'pull request', issue: issue!, state, cells });
  yield reviewed.text;
}

/** The changes of a round as text: like all output here, without characters that a terminal would interpret. */
async function* diff(
  { pulls }: SshDeps,
  { round, since, format, ...at }: Of<'pull diff'>,
  { viewer }: AuthenticatedSession,
): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  const { text } = await pulls.rounds.patch(viewer, at, { format, round, since });
  for await (const part of text as AsyncIterable<Buffer>) yield decoder.write(part);
  yield decoder.end();
}
