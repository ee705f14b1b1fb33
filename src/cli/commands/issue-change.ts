import { Option } from 'commander';
import type { Command } from 'commander';
import type { PersonViewer } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { CloseReason, IssueAt, IssueChange } from '../../issues/index.ts';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import { splitName } from './find-repository.ts';
import {
  actorOf,
  describeOne,
  issueAt,
  issueToJson,
  splitList,
  formatIssueReference,
  printChangedIssue,
} from './issue-output.ts';
import type { AsOption } from './issue-output.ts';
import { closeReasons } from './issue-write.ts';

/** `hearth issue close|reopen|label|assign|…`: changes of issues. */
export function addIssueChangeCommands(issue: Command, run: Run): void {
  const command = (name: string, description: string): Command =>
    issue
      .command(name)
      .description(description)
      .argument('<owner/name>', 'repository')
      .argument('<number>', 'issue number')
      .option('--as <user>', 'act as this user');
  withExamples(
    command('close', 'close an issue')
      .addOption(new Option('--reason <reason>', 'why').choices(closeReasons).default('completed'))
      .action(run(close)),
    'hearth issue close alice/garden 7 --reason not_planned',
  );
  withExamples(command('reopen', 'reopen an issue').action(run(reopen)), 'hearth issue reopen alice/garden 7');
  for (const [name, what] of [
    ['label', 'labels'],
    ['assign', 'users to assign'],
  ] as const)
    withExamples(
      command(name, name === 'label' ? "change an issue's labels" : "change an issue's assignees")
        .option('--add <names>', `${what} to add, separated by commas`)
        .option('--remove <names>', `${what} to remove, separated by commas`)
        .option('--set <names>', `all ${what}, separated by commas; empty for none`)
        .action(run(change(name === 'label' ? 'labels' : 'assignees'))),
      name === 'label'
        ? 'hearth issue label alice/garden 7 --add kind/bug --remove kind/question'
        : 'hearth issue assign alice/garden 7 --add bob,carol',
    );
  for (const [name, description, mark, line] of [
    ['lock', 'lock an issue so that only users with write access can comment', { isLocked: true }, 'Locked'],
    ['unlock', 'unlock an issue', { isLocked: false }, 'Unlocked'],
    ['pin', 'pin an issue to the top of the list', { isPinned: true }, 'Pinned'],
    ['unpin', 'unpin an issue', { isPinned: false }, 'Unpinned'],
  ] as const)
    withExamples(command(name, description).action(run(set(mark, line))), `hearth issue ${name} alice/garden 7`);
  withExamples(
    command('move', 'move an issue to another repository').argument('<target>', 'repository').action(run(move)),
    'hearth issue move alice/garden 7 alice/shed',
  );
  withExamples(
    command('delete', 'delete an issue; it can be restored for a while')
      .alias('remove')
      .option('--dry-run', 'only show what would be deleted')
      .action(run(deleteIssue)),
    'hearth issue delete alice/garden 7',
  );
  withExamples(
    command('restore', 'restore a deleted issue').action(run(restore)),
    'hearth issue restore alice/garden 7',
  );
}

/** The acting user, and the location of the issue. */
async function open(
  cli: Parameters<Action<AsOption, [string, string]>>[0],
  options: AsOption,
  repository: string,
  number: string,
): Promise<{ modules: Modules; viewer: PersonViewer; at: IssueAt }> {
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  return { modules, viewer, at: await issueAt(modules, viewer, repository, number) };
}

const close: Action<AsOption & { reason: CloseReason }, [string, string]> = async (cli, options, ...place) => {
  const { modules, viewer, at } = await open(cli, options, ...place);
  await modules.issues.close(viewer, at, options.reason);
  await printChangedIssue(cli, modules, viewer, at, `Closed ${formatIssueReference(at)}.`);
};

const reopen: Action<AsOption, [string, string]> = async (cli, options, ...place) => {
  const { modules, viewer, at } = await open(cli, options, ...place);
  await modules.issues.reopen(viewer, at);
  await printChangedIssue(cli, modules, viewer, at, `Reopened ${formatIssueReference(at)}.`);
};

interface ChangeOptions extends AsOption {
  add?: string;
  remove?: string;
  set?: string;
}

const change =
  (what: 'labels' | 'assignees'): Action<ChangeOptions, [string, string]> =>
  async (cli, options, ...place) => {
    const [add, remove, all] = [splitList(options.add), splitList(options.remove), splitList(options.set)];
    if ((add === undefined && remove === undefined) === (all === undefined))
      throw invalid('usage', 'Use --add and --remove, or --set.');
    const { modules, viewer, at } = await open(cli, options, ...place);
    const wanted = all ?? { add: add ?? [], remove: remove ?? [] };
    await modules.issues.triage(viewer, at, { [what]: wanted });
    const { labels, assigned } = await describeOne(modules, viewer, at);
    const now = what === 'labels' ? labels.map(({ name }) => name) : assigned.map(({ username }) => username ?? '');
    await printChangedIssue(cli, modules, viewer, at, `${formatIssueReference(at)}: ${now.join(', ') || 'none'}`);
  };

const set =
  (mark: IssueChange, line: string): Action<AsOption, [string, string]> =>
  async (cli, options, ...place) => {
    const { modules, viewer, at } = await open(cli, options, ...place);
    await modules.issues.triage(viewer, at, mark);
    await printChangedIssue(cli, modules, viewer, at, `${line} ${formatIssueReference(at)}.`);
  };

const move: Action<AsOption, [string, string, string]> = async (cli, options, repository, number, target) => {
  const { modules, viewer, at } = await open(cli, options, repository, number);
  const to = splitName(target);
  const moved = { ...to, number: (await modules.issues.move(viewer, at, to)).number };
  await printChangedIssue(
    cli,
    modules,
    viewer,
    moved,
    `Moved ${formatIssueReference(at)} to ${formatIssueReference(moved)}.`,
  );
};

const deleteIssue: Action<AsOption & { dryRun?: true }, [string, string]> = async (cli, options, ...place) => {
  const { modules, viewer, at } = await open(cli, options, ...place);
  const issue = await describeOne(modules, viewer, at);
  if (options.dryRun)
    return cli.output.result(`Would delete ${formatIssueReference(at)}: ${issue.title}`, issueToJson(issue));
  await cli.confirm(`Delete ${formatIssueReference(at)}: ${issue.title}?`);
  await modules.issues.trash(viewer, at);
  cli.output.result(
    `Deleted ${formatIssueReference(at)}. To restore it: hearth issue restore ${at.owner}/${at.name} ${at.number}`,
    issueToJson(issue),
  );
};

const restore: Action<AsOption, [string, string]> = async (cli, options, ...place) => {
  const { modules, viewer, at } = await open(cli, options, ...place);
  await modules.issues.restore(viewer, at);
  await printChangedIssue(cli, modules, viewer, at, `Restored ${formatIssueReference(at)}.`);
};
