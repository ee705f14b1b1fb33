import { conflict } from '../../kernel/index.ts';
import type { Notification } from '../../notifications/index.ts';
import type { SshDeps } from '../deps.ts';
import type { InboxCommand } from './parse-inbox-command.ts';
import { plainText } from './plain-text.ts';
import type { AuthenticatedSession } from './session.ts';
import { send } from './write-output.ts';

/** Rows of a list: enough for a terminal. */
const mostListed = 100;

/** The commands about the inbox, for the owner of the key. The list is tab-separated lines without headers. */
export async function serveInboxCommand(
  deps: SshDeps,
  command: InboxCommand,
  session: AuthenticatedSession,
): Promise<number> {
  if (session.viewer.username === null)
    throw conflict('handle_missing', 'Sign in on the web page and choose a username first.');
  await send(plainText(await output(deps, command, session)), session);
  return 0;
}

async function output(
  { notifications, clock }: SshDeps,
  command: InboxCommand,
  { viewer }: AuthenticatedSession,
): Promise<string> {
  if (command.kind === 'inbox list') {
    const { rows } = await notifications.list(viewer, { view: command.view }, { limit: mostListed });
    return rows.map(line).join('');
  }
  if (command.kind === 'inbox undo') {
    await notifications.undo(viewer, command);
    return 'Taken back.\n';
  }
  const { change, ids } = command;
  // An unknown id is an error, not an empty result.
  if (ids !== 'all') for (const id of ids) await notifications.find(viewer, id);
  const at = await notifications.change(viewer, change, ids === 'all' ? { upTo: clock.now() } : { ids });
  return change === 'done' || change === 'read' || change === 'save'
    ? `Changed. To take it back: inbox undo ${change}.${at}\n`
    : 'Changed.\n';
}

/** Escapes a cell so that its text cannot end the cell or the line. */
function line({ id, isUnread, about, title, reason, listedAt }: Notification): string {
  const cells = [
    String(id),
    isUnread ? 'unread' : 'read',
    about,
    title,
    reason,
    new Date(listedAt ?? 0).toISOString().replace(/\.\d+Z$/, 'Z'),
  ];
  return `${cells.map((cell) => cell.replace(/[\t\r\n]+/g, ' ')).join('\t')}\n`;
}
