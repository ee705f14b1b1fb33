import type { Command } from 'commander';
import { invalid } from '../../kernel/index.ts';
import type { ListedThread, NewReviewComment, ReviewRow, Verdict } from '../../pulls/index.ts';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import { isoOrNull } from '../terminal/output.ts';
import { withBody } from '../terminal/read-body.ts';
import type { BodyOptions } from '../terminal/read-body.ts';
import { actorOf, splitList } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';
import { formatPullReference, pullAt, printChangedPull } from './pull-output.ts';
import { readCount } from './read-count.ts';

/** `hearth pull review|reviewers`. */
export function addPullReviewCommands(pull: Command, run: Run): void {
  const command = (name: string, description: string): Command =>
    pull
      .command(name)
      .description(description)
      .argument('<owner/name>', 'repository')
      .argument('<number>', 'pull request number');
  withExamples(
    command('review', 'review a pull request; replies inside a patch become comments on its lines')
      .option('--approve', 'approve the pull request')
      .option('--request-changes', 'request changes; the pull request cannot be merged until you approve it')
      .option('--comment', 'comment without approving or requesting changes')
      .option('--on <path:line: text...>', 'comment on a line, or on several lines as path:3-5: text')
      .option('--body <text>', 'review text in Markdown')
      .option('--file <file>', 'read the text from this file; - for standard input')
      .option('--round <number>', 'round that was reviewed (default: the latest)')
      .option('--as <user>', 'act as this user')
      .action(run(review)),
    'hearth pull review alice/garden 7 --approve --as bob',
    'hearth pull review alice/garden 7 --request-changes --file review.md --as bob',
    'hearth pull diff alice/garden 7 --patch | sed "s/^/> /" > review.txt # write your answers between the lines',
    'hearth pull review alice/garden 7 --as bob < review.txt',
    'hearth pull review alice/garden 7 --comment --on "gate.txt:3: Which oil?" "gate.txt:7-9: Why?" --as bob',
  );
  withExamples(
    command('reviewers', 'request reviews from users and teams, or cancel requests')
      .option('--add <users>', 'users to request reviews from, and teams as organisation/team, separated by commas')
      .option('--remove <users>', 'users and teams whose review requests to cancel, separated by commas')
      .option('--as <user>', 'act as this user')
      .action(run(changeReviewers)),
    'hearth pull reviewers acme/garden 7 --add bob,acme/reviewers',
  );
}

interface ReviewOptions extends AsOption, BodyOptions {
  approve?: true;
  requestChanges?: true;
  comment?: true;
  on?: string[];
  round?: string;
}

const review: Action<ReviewOptions, [string, string]> = async (cli, options, repository, number) => {
  const given = verdictIn(options);
  const comments = (options.on ?? []).map(readComment);
  if (options.as === undefined) throw invalid('usage', 'A review needs an author. Specify a user with --as.');
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const at = await pullAt(modules, viewer, repository, number);
  const { pull } = await modules.pulls.find(viewer, at);
  const round = options.round === undefined ? pull.lastRound : readCount(options.round);
  // Approvals and line comments need no text.
  const needsText = given !== 'APPROVE' && comments.length === 0;
  const { isPatchReply, pullLimits } = await import('../../pulls/index.ts');
  const written = needsText || options.file !== undefined ? options : { ...options, body: options.body ?? '' };
  if (given === null && (comments.length > 0 || options.body !== undefined || (cli.mayAsk && !options.file)))
    throw noVerdict();
  await withBody(cli, { ...written, maxTextBytes: pullLimits.answeredPatchBytes }, '', async (body) => {
    const { reviews } = modules.pulls;
    const verdict = given ?? 'COMMENT';
    if (isPatchReply(body) && comments.length === 0) {
      const wanted = options.round === undefined ? undefined : round;
      await reviews.submitAnswers(viewer, at, { text: body, verdict, round: wanted });
      return reportReview(verdict);
    }
    if (given === null) throw noVerdict();
    await reviews.addComments(
      viewer,
      at,
      comments.map((comment) => ({ ...comment, round })),
    );
    await reviews.submit(viewer, at, { verdict, body, round, confirm: options.round !== undefined });
    await reportReview(verdict);
  });

  function reportReview(verdict: Verdict): Promise<void> {
    const said = { APPROVE: 'Approved', REQUEST_CHANGES: 'Requested changes on', COMMENT: 'Reviewed' }[verdict];
    return printChangedPull(cli, modules, viewer, at, `${said} ${formatPullReference(at)} (round ${round}).`);
  }
};

const noVerdict = () => invalid('usage', 'Use exactly one of --approve, --request-changes and --comment.');

/** Null for none, which only an answered patch may have. Throws `usage` for several. */
function verdictIn({ approve, requestChanges, comment }: ReviewOptions): Verdict | null {
  const given = [
    ...(approve ? ['APPROVE' as const] : []),
    ...(requestChanges ? ['REQUEST_CHANGES' as const] : []),
    ...(comment ? ['COMMENT' as const] : []),
  ];
  if (given.length > 1) throw noVerdict();
  return given[0] ?? null;
}

/** Parses `path:3: text` or `path:3-5: text`, about lines of the new version. Throws `usage`. */
function readComment(text: string): Omit<NewReviewComment, 'round' | 'sendNow'> {
  const [, path, first, last, body] = /^(.+?):(\d{1,9})(?:-(\d{1,9}))?:\s*([^]+)$/.exec(text) ?? [];
  if (path === undefined || first === undefined || body === undefined)
    throw invalid('usage', `Enter a comment as path:line: text, not ${JSON.stringify(text.slice(0, 100))}.`);
  return { path, side: 'NEW', firstLine: Number(first), lastLine: Number(last ?? first), body };
}

interface ReviewerOptions extends AsOption {
  add?: string;
  remove?: string;
}

const changeReviewers: Action<ReviewerOptions, [string, string]> = async (cli, options, repository, number) => {
  const change = { add: splitList(options.add) ?? [], remove: splitList(options.remove) ?? [] };
  if (change.add.length + change.remove.length === 0) throw invalid('usage', 'Use --add or --remove.');
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const at = await pullAt(modules, viewer, repository, number);
  await modules.pulls.attention.request(viewer, at, change);
  const { waitingFor } = await modules.pulls.reviews.text(viewer, at);
  const line = `${formatPullReference(at)} is waiting for ${waitingFor.join(', ') || 'no review'}.`;
  cli.output.result(line, { ...at, waitingFor });
};

type NameOf = (userId: string | null) => string;

export const reviewToJson = (row: ReviewRow, nameOf: NameOf): object => ({
  author: nameOf(row.authorId),
  verdict: row.verdict?.toLowerCase() ?? null,
  round: row.round,
  body: row.body,
  submittedAt: isoOrNull(row.submittedAt),
  dismissedAt: isoOrNull(row.dismissedAt),
  dismissalReason: row.dismissalReason,
});

export const threadToJson = (thread: ListedThread, nameOf: NameOf): object => ({
  id: thread.id,
  round: thread.round,
  path: thread.path,
  side: thread.side?.toLowerCase() ?? null,
  firstLine: thread.firstLine,
  lastLine: thread.lastLine,
  quoted: thread.quoted,
  now:
    thread.place === null
      ? null
      : {
          state: thread.place.state,
          path: thread.place.path,
          firstLine: thread.place.firstLine,
          lastLine: thread.place.lastLine,
        },
  resolved: thread.resolvedAt !== null,
  comments: thread.comments
    .filter(({ deletedAt }) => deletedAt === null)
    .map(({ authorId, body, createdAt, isDraft }) => ({
      author: nameOf(authorId),
      body,
      createdAt: isoOrNull(createdAt),
      draft: isDraft,
    })),
});
