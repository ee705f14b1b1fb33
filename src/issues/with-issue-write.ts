import type { EntryFacts, IssueAct, Viewer } from '../access/index.ts';
import type { IssueDeps } from './deps.ts';
import { writeEntries } from './entries/write-entries.ts';
import type { EntryLog } from './entries/write-entries.ts';
import { findIssue, issueInWrite } from './find-issue.ts';
import type { IssueAt, IssueContext } from './issue-context.ts';

/**
 * Runs a write on one issue: finds it, asks for the right before and, by what the write sees, in it.
 * @param entry what `edit_entry` and `delete_entry` are about, read in the write
 */
export async function withIssueWrite<T>(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  act: IssueAct,
  work: (log: EntryLog, context: IssueContext) => Promise<T>,
  entry: EntryFacts | null = null,
): Promise<T> {
  const { issue } = await findIssue(deps, viewer, at);
  return writeEntries(deps, viewer, async (log) =>
    work(log, await issueInWrite(deps, log.tx, viewer, issue, act, entry)),
  );
}
