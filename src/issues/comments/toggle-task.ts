import { refusalOnIssue } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import type { Entry } from '../entry.ts';
import { findIssue } from '../find-issue.ts';
import { factsOfIssue } from '../issue-context.ts';
import { entryNotFound, refuse, revisionConflict } from '../issue-errors.ts';
import type { IssueAt } from '../issue-context.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { editText } from './edit-text.ts';

interface ToggledTask {
  /** The entry with the text; 0 for the issue itself. */
  position: number;
  /** The revision from which the page was rendered. */
  revision: number;
  /** Line of the text with the box, from 0. */
  line: number;
}

/**
 * Checks or unchecks a box of a task list: an ordinary edit of the text, with a revision. Throws `no_task_in_line` for
 * a line without a box; `text_changed_meanwhile` for a page with an older text; `entry_not_found`; permission errors.
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

/** A box at the start of an item, after list and quotation marks. */
const box = /^((?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*\[)([ xX])(?=\][ \t\u00a0])/;

/** Toggles the box in a line; null if the line has none. */
export function toggleLine(text: string, line: number): string | null {
  // Lines are at even indexes, line endings at odd ones.
  const segments = text.split(/(\r\n?|\n)/);
  const found = box.exec(segments[2 * line] ?? '');
  if (found === null) return null;
  const [start, before, state] = found;
  segments[2 * line] = `${before}${state === ' ' ? 'x' : ' '}${segments[2 * line]!.slice(start.length)}`;
  return segments.join('');
}
