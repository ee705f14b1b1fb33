import { refusalOnIssue } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import type { Entry } from '../entries/entry.ts';
import { findIssue } from '../find-issue.ts';
import { factsOfIssue } from '../issue-context.ts';
import { entryNotFound, refuse, revisionConflict } from '../issue-errors.ts';
import type { IssueAt } from '../issue-context.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { editText } from './edit-text.ts';

interface ToggledTask {
  /** The entry that has the text; 0 for the issue itself. */
  position: number;
  /** The one that the page was made from. */
  revision: number;
  /** The line of the text that has the box, from 0. */
  line: number;
}

/**
 * Ticks a box of a task list, or takes the tick away: an edit of the text like any other, with its revision.
 * Refuses `no_task_in_line` for a line without a box; `text_changed_meanwhile` for a page made from an older text;
 * `entry_not_found`; what the rights refuse.
 */
export async function toggleTask(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  { position, revision, line }: ToggledTask,
): Promise<Entry> {
  const { issue, facts } = await findIssue(deps, viewer, at);
  const entry = await deps.db.read.findOneBy(entrySchema, { issueId: issue.id, position });
  if (entry === null || entry.body === null || entry.deletedAt !== null) throw entryNotFound();
  refuse(refusalOnIssue(viewer, facts, factsOfIssue(issue), 'edit_entry', entry));
  if (entry.revision !== revision) throw revisionConflict();
  const body = toggleLine(entry.body, line);
  if (body === null) throw invalid('no_task_in_line', 'This line has no checkbox.', { field: 'line' });
  return editText(deps, viewer, at, { position, body, revision });
}

/** A box at the beginning of an item, behind marks of lists and quotations. */
const box = /^((?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*\[)([ xX])(?=\][ \t\u00a0])/;

/** The text with the box of a line flipped; null when the line has none. */
export function toggleLine(text: string, line: number): string | null {
  // Lines are at even indexes, their ends at odd ones.
  const segments = text.split(/(\r\n?|\n)/);
  const found = box.exec(segments[2 * line] ?? '');
  if (found === null) return null;
  const [start, before, state] = found;
  segments[2 * line] = `${before}${state === ' ' ? 'x' : ' '}${segments[2 * line]!.slice(start.length)}`;
  return segments.join('');
}
