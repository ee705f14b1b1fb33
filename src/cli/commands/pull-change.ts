import { Option } from 'commander';
import type { Command } from 'commander';
import type { PersonViewer } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import { invalid, isDomainError } from '../../kernel/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import type { Action, Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { actorOf } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';
import { findPull, formatPullReference, pullAt, pullToJson, printChangedPull } from './pull-output.ts';
import { readCount } from './read-count.ts';

/** `hearth pull merge|close|reopen|ready|draft|edit|update`: changes of pull requests. */
export function addPullChangeCommands(pull: Command, run: Run): void {
  const command = (name: string, description: string): Command =>
    pull
      .command(name)
      .description(description)
      .argument('<owner/name>', 'repository')
      .argument('<number>', 'pull request number')
      .option('--as <user>', 'act as this user');
  withExamples(
    command('merge', 'merge a pull request')
      .addOption(
        new Option('--style <style>', 'how').choices(['merge', 'squash', 'rebase', 'forward']).default('merge'),
      )
      .option('--title <text>', 'first line of the new commit message')
      .option('--message <text>', 'rest of the commit message')
      .option('--round <number>', 'merge only if this is still the latest round')
      .option('--when-ready', 'merge once all requirements are met')
      .option('--cancel', 'cancel --when-ready')
      .option('--force', 'bypass the branch rule, if it lets administrators do so')
      .option('--delete-branch', 'delete the head branch after merging')
      .option('--dry-run', 'only show unmet requirements')
      .action(run(merge)),
    'hearth pull merge alice/garden 7',
    'hearth pull merge alice/garden 7 --style squash --title "Oil the gate (#7)" --delete-branch --as bob',
    'hearth pull merge alice/garden 7 --when-ready --as bob',
  );
  withExamples(command('close', 'close a pull request').action(run(close)), 'hearth pull close alice/garden 7');
  withExamples(command('reopen', 'reopen a pull request').action(run(reopen)), 'hearth pull reopen alice/garden 7');
  withExamples(
    command('ready', 'mark a pull request as ready for review').action(run(setDraft(false))),
    'hearth pull ready alice/garden 7',
  );
  withExamples(
    command('draft', 'turn a pull request into a draft').action(run(setDraft(true))),
    'hearth pull draft alice/garden 7',
  );
  withExamples(
    command('retarget', 'change the base branch').requiredOption('--base <branch>', 'branch').action(run(retarget)),
    'hearth pull retarget alice/garden 7 --base release',
  );
  withExamples(
    command('update', 'update the head of a pull request with its base branch')
      .addOption(new Option('--style <style>', 'how').choices(['merge', 'rebase']).default('merge'))
      .action(run(update)),
    'hearth pull update alice/garden 7 --style rebase --as bob',
  );
}

/** The acting user, and the location of the pull request. */
async function open(cli: Cli, options: AsOption, repository: string, number: string) {
  const modules: Modules = await cli.openModules();
  const viewer: PersonViewer = await actorOf(modules, options);
  const at: IssueAt = await pullAt(modules, viewer, repository, number);
  return { modules, viewer, at, ...(await modules.pulls.find(viewer, at)) };
}

interface MergeOptions extends AsOption {
  style: string;
  title?: string;
  message?: string;
  round?: string;
  whenReady?: true;
  cancel?: true;
  force?: true;
  deleteBranch?: true;
  dryRun?: true;
}

const merge: Action<MergeOptions, [string, string]> = async (cli, options, ...place) => {
  if (options.cancel && options.whenReady) throw invalid('usage', 'Use only one of --when-ready and --cancel.');
  const { modules, viewer, at, pull } = await open(cli, options, ...place);
  if (options.cancel) {
    await modules.pulls.cancelMergeWhenReady(viewer, at);
    return printChangedPull(cli, modules, viewer, at, `${formatPullReference(at)} is no longer merged automatically.`);
  }
  if (options.dryRun) return sayBlocks(cli, modules, viewer, at);
  const input = {
    style: options.style,
    round: options.round === undefined ? pull.lastRound : readCount(options.round),
    title: options.title,
    body: options.message,
  };
  if (options.whenReady) {
    await modules.pulls.mergeWhenReady(viewer, at, input);
    return printChangedPull(
      cli,
      modules,
      viewer,
      at,
      `${formatPullReference(at)} will be merged once all requirements are met.`,
    );
  }
  const { oid } = await modules.pulls.merge(viewer, at, { ...input, bypasses: options.force ?? false });
  if (options.deleteBranch)
    await modules.pulls.deleteBranch(viewer, at).catch((error: unknown) => {
      // The merge has already succeeded.
      if (!isDomainError(error)) throw error;
      cli.output.message(`The branch was not deleted: ${error.message}`);
    });
  await printChangedPull(
    cli,
    modules,
    viewer,
    at,
    `Merged ${formatPullReference(at)} into ${pull.baseBranch} as ${oid.slice(0, 10)}.`,
  );
};

async function sayBlocks(cli: Cli, modules: Modules, viewer: PersonViewer, at: IssueAt): Promise<void> {
  const { explainBlock } = await import('../../pulls/index.ts');
  const { verdict, state } = await modules.pulls.mergeBox(viewer, at);
  const words = verdict.blocks.map(explainBlock);
  const conflicts = state.conflicts.map((file) => `  ${file}`);
  const lines = words.length === 0 ? [`${formatPullReference(at)} can be merged.`] : [...words, ...conflicts];
  cli.output.result(lines.join('\n'), {
    ...at,
    blocks: verdict.blocks.map(({ kind }) => kind),
    mayForce: verdict.mayBypass,
    conflicts: state.conflicts,
  });
}

const close: Action<AsOption, [string, string]> = async (cli, options, ...place) => {
  const { modules, viewer, at } = await open(cli, options, ...place);
  await modules.issues.close(viewer, at);
  await printChangedPull(cli, modules, viewer, at, `Closed ${formatPullReference(at)}.`);
};

const reopen: Action<AsOption, [string, string]> = async (cli, options, ...place) => {
  const { modules, viewer, at } = await open(cli, options, ...place);
  await modules.issues.reopen(viewer, at);
  await printChangedPull(cli, modules, viewer, at, `Reopened ${formatPullReference(at)}.`);
};

const setDraft =
  (isDraft: boolean): Action<AsOption, [string, string]> =>
  async (cli, options, ...place) => {
    const { modules, viewer, at } = await open(cli, options, ...place);
    await modules.pulls.edit(viewer, at, { isDraft });
    const line = isDraft
      ? `${formatPullReference(at)} is now a draft.`
      : `${formatPullReference(at)} is now ready for review.`;
    await printChangedPull(cli, modules, viewer, at, line);
  };

const retarget: Action<AsOption & { base: string }, [string, string]> = async (cli, options, ...place) => {
  const { modules, viewer, at } = await open(cli, options, ...place);
  await modules.pulls.edit(viewer, at, { base: options.base });
  await printChangedPull(cli, modules, viewer, at, `${formatPullReference(at)} now merges into ${options.base}.`);
};

const update: Action<AsOption & { style: 'merge' | 'rebase' }, [string, string]> = async (cli, options, ...place) => {
  const { modules, viewer, at, pull } = await open(cli, options, ...place);
  const style = options.style === 'rebase' ? 'REBASE' : 'MERGE';
  const { oid } = await modules.pulls.updateBranch(viewer, at, { style, round: pull.lastRound });
  cli.output.result(`Updated ${formatPullReference(at)}. Its head is now ${oid.slice(0, 10)}.`, {
    ...pullToJson(await findPull(modules, viewer, at)),
    headOid: oid,
  });
};
