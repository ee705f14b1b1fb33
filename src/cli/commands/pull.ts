import { once } from 'node:events';
import type { Command } from 'commander';
import type { Writable } from 'node:stream';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { escapeControls } from '../terminal/escape-controls.ts';
import { isoOrNull } from '../terminal/output.ts';
import { readComments } from './issue-comments.ts';
import { readList, withListOptions } from './issue-list.ts';
import type { ListOptions } from './issue-list.ts';
import { actorOf, authorOf } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';
import { addPullChangeCommands } from './pull-change.ts';
import {
  describePulls,
  findPull,
  formatPullReference,
  pullAt,
  pullColumns,
  pullToJson,
  stateOf,
} from './pull-output.ts';
import { addPullQueueCommand } from './pull-queue.ts';
import { addPullReviewCommands, reviewToJson, threadToJson } from './pull-review.ts';
import { addPullStackCommand } from './pull-stack.ts';
import { addPullWriteCommands } from './pull-write.ts';
import { readCount } from './read-count.ts';
import { cloneAddresses } from '../serving/addresses.ts';

/** `hearth pull …`: pull requests of repositories. */
export function addPullCommands(program: Command, run: Run): void {
  const pull = addNoun(program, 'pull', 'pull requests');
  withExamples(
    withListOptions(pull.command('list').description('list pull requests, newest first'), 'pull').action(
      run(listPulls),
    ),
    'hearth pull list alice/garden',
    'hearth pull list alice/garden --base release --state merged',
    'hearth pull list alice/garden --state all --author bob --json',
  );
  const one = (name: string, description: string): Command =>
    pull
      .command(name)
      .description(description)
      .argument('<owner/name>', 'repository')
      .argument('<number>', 'pull request number')
      .option('--as <user>', 'show only content visible to this user');
  withExamples(
    one('show', 'show a pull request: rounds, reviews, unmet merge requirements, comments').action(run(showPull)),
    'hearth pull show alice/garden 7',
  );
  withExamples(
    one('diff', "print a pull request's changes in git apply format")
      .option('--round <number>', 'round to print (default: the latest)')
      .option('--since <round>', 'only changes since this earlier round')
      .option('--patch', 'print the commits as emails for git am')
      .action(run(printDiff)),
    'hearth pull diff alice/garden 7 | git apply',
    'hearth pull diff alice/garden 7 --patch | git am',
    'hearth pull diff alice/garden 7 --round 1',
  );
  withExamples(
    one('checkout', 'print the git commands that check out a pull request').action(run(printCheckout)),
    'hearth pull checkout alice/garden 7 | sh',
  );
  addPullWriteCommands(pull, run);
  addPullReviewCommands(pull, run);
  addPullChangeCommands(pull, run);
  addPullQueueCommand(pull, run);
  addPullStackCommand(pull, run);
}

const listPulls: Action<ListOptions, [string]> = async (cli, options, text) => {
  const rows = await readList(cli, options, text, 'pull', describePulls);
  cli.output.list(rows, pullColumns, ['pull request', 'pull requests'], pullToJson);
};

const showPull: Action<AsOption, [string, string]> = async (cli, options, repository, number) => {
  const modules = await cli.openModules();
  const { explainBlock } = await import('../../pulls/index.ts');
  const viewer = await actorOf(modules, options);
  const at = await pullAt(modules, viewer, repository, number);
  const box = await modules.pulls.mergeBox(viewer, at);
  const shown = await findPull(modules, viewer, at);
  const { issue, pull, head } = shown;
  const rounds = await modules.pulls.rounds.list(viewer, at);
  const blocks = issue.state === 'OPEN' ? box.verdict.blocks.map(explainBlock) : [];
  const { comments, text } = await readComments(modules, viewer, at);
  const reviewed = await modules.pulls.reviews.text(viewer, at);
  cli.output.show(
    [
      ['Pull request', formatPullReference(at)],
      ['Title', issue.title],
      ['State', stateOf(shown)],
      ['Author', authorOf(issue)],
      ['Branch', `${head.label} into ${pull.baseBranch}`],
      ['Head', pull.headOid],
      ['Rounds', rounds.map(({ round, change }) => `${round} (${change})`).join(', ')],
      ['Reviews', reviewed.summary],
      ['Waiting for', reviewed.waitingFor.join(', ')],
      ['Open threads', String(reviewed.threads.filter(({ resolvedAt }) => resolvedAt === null).length || '')],
      ['Merge', issue.state === 'OPEN' ? (blocks.length === 0 ? 'nothing stands in the way' : blocks.join(' ')) : ''],
      ['Checks', box.checks.map(({ context, state }) => `${context} (${state})`).join(', ')],
      ['Opened', { epochMs: issue.createdAt, otherwise: '' }],
      ['Changed', { epochMs: issue.updatedAt, otherwise: '' }],
      ['Labels', issue.labels.map(({ name }) => name).join(', ')],
      ['Assignees', issue.assigned.map(({ username }) => username ?? '').join(', ')],
      ['Milestone', issue.milestone?.title ?? ''],
    ],
    {
      ...pullToJson(shown),
      body: issue.body,
      revision: issue.revision,
      blocks: issue.state === 'OPEN' ? box.verdict.blocks.map(({ kind }) => kind) : [],
      conflicts: box.state.conflicts,
      rounds: rounds.map(({ round, headOid, baseOid, commitCount, change, note, createdAt }) => ({
        round,
        headOid,
        baseOid,
        commits: commitCount,
        change,
        note,
        createdAt: isoOrNull(createdAt),
      })),
      thread: comments,
      reviews: reviewed.reviews.map((review) => reviewToJson(review, reviewed.nameOf)),
      threads: reviewed.threads.map((thread) => threadToJson(thread, reviewed.nameOf)),
    },
  );
  if (cli.output.json) return;
  const body = issue.body === '' ? '' : `${issue.body}\n`;
  cli.output.print(`\n${body}${text}${reviewed.text}`.split('\n').map(escapeControls).join('\n'));
};

interface DiffOptions extends AsOption {
  round?: string;
  since?: string;
  patch?: true;
}

const printDiff: Action<DiffOptions, [string, string]> = async (cli, options, repository, number) => {
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const at = await pullAt(modules, viewer, repository, number);
  const { text } = await modules.pulls.rounds.patch(viewer, at, {
    format: options.patch ? 'patch' : 'diff',
    round: options.round === undefined ? undefined : readCount(options.round),
    since: options.since === undefined ? undefined : readCount(options.since),
  });
  const stdout = cli.process.stdout as unknown as Writable;
  for await (const part of text as AsyncIterable<Buffer>) {
    if (!stdout.write(part) && stdout.writableNeedDrain) await once(stdout, 'drain');
  }
};

const printCheckout: Action<AsOption, [string, string]> = async (cli, options, text, number) => {
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const at = await pullAt(modules, viewer, text, number);
  const { pull } = await modules.pulls.find(viewer, at);
  const { http } = cloneAddresses(modules.config, at);
  const branch = `pull/${at.number}`;
  const commands = [`git fetch ${http} refs/pull/${at.number}/head:${branch}`, `git checkout ${branch}`];
  cli.output.print(`${commands.join('\n')}\n`, { ...at, branch, headOid: pull.headOid, commands });
};
