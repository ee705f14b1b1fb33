import { Option } from 'commander';
import type { Command } from 'commander';
import type { PersonViewer } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Change, InboxView, Notification, UndoableChange } from '../../notifications/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { actorOf } from './issue-output.ts';
import { readCount } from './read-count.ts';

interface AsOption {
  as: string;
}

/** `hearth inbox …`: the notifications of a user, who must be named: the command has no user of its own. */
export function addInboxCommands(program: Command, run: Run): void {
  const inbox = addNoun(program, 'inbox', "a user's notifications");
  const command = (name: string, description: string): Command =>
    inbox.command(name).description(description).requiredOption('--as <user>', 'user who owns the notifications');
  withExamples(
    command('list', 'list notifications, newest first')
      .addOption(
        new Option('--view <view>', 'notifications to list')
          .choices(['inbox', 'unread', 'saved', 'done'])
          .default('inbox'),
      )
      .option('--limit <number>', 'maximum number to list', '100')
      .action(run(listInbox)),
    'hearth inbox list --as alice',
    'hearth inbox list --as alice --view unread --json',
  );
  for (const [name, description, line] of [
    ['read', 'mark notifications as read', 'Marked as read'],
    ['unread', 'mark notifications as unread', 'Marked as unread'],
    ['done', 'remove notifications from the inbox', 'Done'],
    ['save', 'save notifications permanently', 'Saved'],
    ['unsave', 'remove notifications from the saved ones', 'No longer saved'],
  ] as const)
    withExamples(
      command(name, description)
        .argument('[ids...]', 'notification ids, as shown by list')
        .option('--all', 'all notifications in the inbox')
        .action(run(change(name, line))),
      `hearth inbox ${name} 12 13 --as alice`,
    );
  withExamples(
    command('undo', 'undo done, read or save within ten minutes')
      .argument('<change>', 'id that the command printed, such as done.1764000000000')
      .action(run(undo)),
    'hearth inbox undo done.1764000000000 --as alice',
  );
}

const stateOf = ({ isUnread, doneAt }: Notification): string =>
  doneAt !== null ? 'done' : isUnread ? 'unread' : 'read';

const columns: Column<Notification>[] = [
  { title: 'ID', cell: ({ id }) => id, align: 'right' },
  { title: 'STATE', cell: stateOf },
  { title: 'ABOUT', cell: ({ about }) => about },
  { title: 'TITLE', cell: ({ title }) => title },
  { title: 'REASON', cell: ({ reason }) => reason },
  { title: 'UPDATED', cell: ({ listedAt }) => ({ epochMs: listedAt, otherwise: '' }) },
];

const toJson = (row: Notification): object => ({
  id: row.id,
  about: row.about,
  title: row.title,
  reason: row.reason,
  unread: row.isUnread,
  saved: row.savedAt !== null,
  done: row.doneAt !== null,
  firstPosition: row.firstPosition,
  lastPosition: row.lastPosition,
  updatedAt: isoOrNull(row.listedAt),
});

async function open(
  cli: Parameters<Action<AsOption, []>>[0],
  options: AsOption,
): Promise<{ modules: Modules; viewer: PersonViewer }> {
  const modules = await cli.openModules();
  return { modules, viewer: await actorOf(modules, options) };
}

const listInbox: Action<AsOption & { view: InboxView; limit: string }, []> = async (cli, options) => {
  const limit = readCount(options.limit);
  const { modules, viewer } = await open(cli, options);
  const rows: Notification[] = [];
  let after: string | null = null;
  do {
    const paging: { limit: number; after: string | null } = { limit: Math.min(limit - rows.length, 100), after };
    const page = await modules.notifications.list(viewer, { view: options.view }, paging);
    rows.push(...page.rows);
    after = page.next;
  } while (after !== null && rows.length < limit);
  cli.output.list(rows, columns, ['notification', 'notifications'], toJson);
};

const change =
  (name: Change, line: string): Action<AsOption & { all?: true }, [string[]]> =>
  async (cli, options, texts) => {
    if ((options.all === true) === texts.length > 0) throw invalid('usage', 'Specify ids, or --all.');
    const wrong = texts.find((text) => !/^\d{1,15}$/.test(text));
    if (wrong !== undefined) throw invalid('usage', `${JSON.stringify(wrong)} is not a notification id.`);
    const { modules, viewer } = await open(cli, options);
    const ids = texts.map(Number);
    // An unknown id is an error, unlike an empty list.
    for (const id of ids) await modules.notifications.find(viewer, id);
    const at = await modules.notifications.change(
      viewer,
      name,
      options.all === true ? { upTo: modules.clock.now() } : { ids },
    );
    const undone = name === 'done' || name === 'read' || name === 'save' ? `${name}.${at}` : null;
    const hint = undone === null ? '' : ` To undo: hearth inbox undo ${undone} --as ${options.as}`;
    cli.output.result(`${line}.${hint}`, { change: name, undo: undone });
  };

const undo: Action<AsOption, [string]> = async (cli, options, text) => {
  const [, name, at] = /^(done|read|save)\.(\d{1,15})$/.exec(text) ?? [];
  if (name === undefined) throw invalid('usage', `${JSON.stringify(text)} cannot be undone.`);
  const { modules, viewer } = await open(cli, options);
  await modules.notifications.undo(viewer, { change: name as UndoableChange, at: Number(at) });
  cli.output.result('Undone.', { undone: name });
};
