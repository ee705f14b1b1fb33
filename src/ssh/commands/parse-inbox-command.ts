import { notificationChanges } from '../../notifications/index.ts';
import type { Change, InboxView, UndoableChange } from '../../notifications/index.ts';

/** Commands about the inbox of the owner of the key. */
export type InboxCommand =
  | { kind: 'inbox list'; view: Exclude<InboxView, 'feed'> }
  | { kind: 'inbox change'; change: Change; ids: number[] | 'all' }
  | { kind: 'inbox undo'; change: UndoableChange; at: number };

const views: readonly string[] = ['unread', 'saved', 'done'];
const most = 100;

/**
 * Parses the words after `inbox`: nothing, `list --unread`, `done 12 13`, `read --all`, `undo done.1764000000000`.
 * @returns null if the input is not an inbox command
 */
export function parseInboxCommand([verb = 'list', ...rest]: readonly string[]): InboxCommand | null {
  if (verb === 'list') {
    const view = (rest[0] ?? '--inbox').replace(/^--/, '');
    if (rest.length > 1 || (rest.length === 1 && !views.includes(view))) return null;
    return { kind: 'inbox list', view: view as Exclude<InboxView, 'feed'> };
  }
  if (verb === 'undo') {
    const [, change, at] = /^(done|read|save)\.(\d{1,15})$/.exec(rest.join(' ')) ?? [];
    return change === undefined ? null : { kind: 'inbox undo', change: change as UndoableChange, at: Number(at) };
  }
  const change = notificationChanges.find((each) => each === verb);
  if (change === undefined || rest.length === 0 || rest.length > most) return null;
  if (rest.length === 1 && rest[0] === '--all') return { kind: 'inbox change', change, ids: 'all' };
  if (!rest.every((word) => /^\d{1,15}$/.test(word))) return null;
  return { kind: 'inbox change', change, ids: rest.map(Number) };
}
